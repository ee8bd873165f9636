#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cvars.h"
#include "held.h"
#include "ours.h"
#include "prefer.h"

static const char prefix[] = "var.", held_prefix[] = "hold.";

enum { HOLDS_BYTES = 1024 };

void settings_begin(struct settings *settings)
{
    for (int id = 0; id < SETTINGS_MAX; id++)
        settings->comms[id] = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &settings->comms[0]);
    settings->mpi_t = cvars_open();
}

/* What each rank can say before anything collective happens. */
static bool apply(struct settings *settings, struct command *command, const char *prefer, const char *use,
                  struct cvars *changes, struct problem *problem)
{
    const struct pair *pair;
    int position = 0;
    if (prefer != NULL && !prefer_possible(problem))
        return false;
    while ((pair = command_next(command, prefix, &position)) != NULL) {
        if (use != NULL)
            return problem_set(problem, "use goes with no variables");
        if (!settings->mpi_t)
            return problem_set(problem, "this MPI library has no MPI_T");
        if (!cvars_write(changes, pair->key + strlen(prefix), pair->value, problem))
            return false;
    }
    if (use != NULL && prefer != NULL)
        return problem_set(problem, "use does not go with prefer");
    return true;
}

/* What is to hold while the setting runs, tried once: "NAME=VALUE NAME=VALUE", "" for nothing. */
static bool hold(const struct settings *settings, struct command *command, char words[HOLDS_BYTES],
                 struct problem *problem)
{
    const struct pair *pair;
    int position = 0;
    size_t length = 0;
    words[0] = '\0';
    while ((pair = command_next(command, held_prefix, &position)) != NULL) {
        if (!settings->mpi_t)
            return problem_set(problem, "this MPI library has no MPI_T");
        length += (size_t)snprintf(words + length, HOLDS_BYTES - length, "%s%s=%s", length > 0 ? " " : "",
                                   pair->key + strlen(held_prefix), pair->value);
        if (length >= HOLDS_BYTES)
            return problem_set(problem, "too much is to hold");
    }
    bool good = held_begin(words, problem);
    return held_end(problem) && good;
}

static void forget(struct settings *settings, int64_t id)
{
    if (settings->comms[id] != MPI_COMM_NULL)
        MPI_Comm_free(&settings->comms[id]);
    free(settings->uses[id]);
    free(settings->holds[id]);
    settings->uses[id] = settings->holds[id] = NULL;
}

bool settings_define(struct settings *settings, struct team *team, struct command *command, struct problem *problem)
{
    static struct cvars changes;
    char words[HOLDS_BYTES];
    int64_t id;
    const char *prefer = command_text(command, "prefer"), *use = command_text(command, "use");
    if (!command_integer(command, "id", 1, SETTINGS_MAX - 1, NULL, &id, problem))
        return false;
    changes.count = 0;
    if (hold(settings, command, words, problem) && apply(settings, command, prefer, use, &changes, problem))
        command_complete(command, problem);
    bool good = team_agree(team, problem);
    MPI_Comm copy = MPI_COMM_NULL;
    if (good)
        good =
            prefer_dup(MPI_COMM_WORLD, prefer, &copy) == MPI_SUCCESS && (use == NULL || ours_use(copy, use, problem));
    struct problem restoring = {""};
    cvars_restore(&changes, &restoring);
    if (!team_agree(team, &restoring)) {
        problem_set(problem, "%s", restoring.text);
        good = false;
    }
    if (!good) {
        if (copy != MPI_COMM_NULL)
            MPI_Comm_free(&copy);
        return false;
    }
    forget(settings, id);
    settings->comms[id] = copy;
    settings->uses[id] = use != NULL ? strdup(use) : NULL;
    settings->holds[id] = words[0] != '\0' ? strdup(words) : NULL;
    if (words[0] != '\0')
        held_watch(copy);
    return true;
}

bool settings_known(const struct settings *settings, int id, struct problem *problem)
{
    if (id >= 0 && id < SETTINGS_MAX && settings->comms[id] != MPI_COMM_NULL)
        return true;
    return problem_set(problem, "setting %d is not defined", id);
}

void settings_end(struct settings *settings)
{
    for (int id = 0; id < SETTINGS_MAX; id++)
        forget(settings, id);
    if (settings->mpi_t)
        cvars_close();
}
