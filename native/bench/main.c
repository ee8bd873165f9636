/* unisono-bench: started by mpirun, stays alive and obeys a driver; the protocol is in README.md. Rank 0 reads
   commands on standard input and answers on standard output; end of input ends it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "digest.h"
#include "fabric.h"
#include "limits.h"
#include "measure.h"
#include "ours.h"
#include "core_state.h"
#include "watchdog.h"
#include "where.h"

static const int64_t define_deadline = 30000000000;

static bool define_command(struct bench *bench, struct command *command, struct problem *problem)
{
    watchdog_arm(define_deadline, bench->team.rank, "copying a communicator");
    bool good = settings_define(&bench->settings, &bench->team, command, problem);
    watchdog_disarm();
    return good;
}

static bool algorithms_command(struct bench *bench, struct command *command, struct problem *problem)
{
    if (!command_complete(command, problem))
        return false;
    ours_list(bench->team.rank, &bench->answer);
    return true;
}

static const struct {
    const char *verb;
    bool (*obey)(struct bench *bench, struct command *command, struct problem *problem);
} verbs[] = {{"algorithms", algorithms_command}, {"compute", compute_command}, {"define", define_command},
             {"digest", digest_command},         {"fabric", fabric_command},   {"limits", limits_command},
             {"measure", measure_command},       {"state", core_state_command}};

static void answer(struct bench *bench, const char *verb, const struct problem *problem)
{
    struct text *text = &bench->answer;
    text_add(text, "{\"%s\":", problem_any(problem) ? "error" : "done");
    text_quote(text, verb);
    if (problem_any(problem)) {
        text_add(text, ",\"reason\":");
        text_quote(text, problem->text);
    }
    text_add(text, "}");
    text_send(text);
}

/* Obeys one line on all ranks; false when it was the last. */
static bool obey(struct bench *bench, const char *line)
{
    struct command command;
    struct problem problem = {""};
    bool quit = false;
    if (command_parse(&command, line, &problem)) {
        bool known = quit = strcmp(command.verb, "quit") == 0;
        for (size_t i = 0; !known && i < sizeof verbs / sizeof *verbs; i++) {
            if (strcmp(verbs[i].verb, command.verb) == 0) {
                known = true;
                verbs[i].obey(bench, &command, &problem);
            }
        }
        if (!known)
            problem_set(&problem, "unknown command");
    }
    team_barrier(&bench->team);
    if (bench->team.rank == 0)
        answer(bench, command.verb, &problem);
    command_free(&command);
    return !quit;
}

/* The next line, on all ranks; NULL at the end of input. Ranks other than 0 sleep while the driver thinks. */
static char *next_line(struct bench *bench, char **line, size_t *room)
{
    int64_t length = 0;
    struct team *team = &bench->team;
    if (team->rank == 0) {
        length = input_line(&bench->input, line, room);
    }
    team->wait.idle = true;
    team_share(team, &length, sizeof length);
    team->wait.idle = false;
    if (length <= 0)
        return NULL;
    if (team->rank != 0 && *room < (size_t)length) {
        char *bigger = realloc(*line, (size_t)length);
        if (bigger == NULL)
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        *line = bigger;
        *room = (size_t)length;
    }
    team_share(team, *line, (size_t)length);
    return *line;
}

static bool begin(struct bench *bench, struct problem *problem)
{
    if (!fault_parse(getenv("UNISONO_BENCH_FAULT"), &bench->fault, problem))
        return false;
    if (!team_create(&bench->team, problem))
        return false;
    settings_begin(&bench->settings);
    input_begin(&bench->input, STDIN_FILENO, 1000 * INPUT_SILENCE_MOST_S);
    return where_find(bench, problem) && where_hello(bench, problem);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct problem problem = {""};
    char *line = NULL;
    size_t room = 0;
    MPI_Init(&argc, &argv);
    if (!begin(&bench, &problem)) {
        fprintf(stderr, "unisono-bench: %s\n", problem.text);
        clock_sleep(200000000); /* for the launcher to pass it on */
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    while (next_line(&bench, &line, &room) != NULL && obey(&bench, line))
        continue;
    free(line);
    text_free(&bench.answer);
    arena_free(&bench.arena);
    sweep_free(&bench.sweep);
    if (bench.probe.made)
        core_state_end(&bench.probe);
    settings_end(&bench.settings);
    team_free(&bench.team);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
