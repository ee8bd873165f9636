#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "cvars.h"

static const char prefix[] = "var.";

void settings_begin(struct settings *settings)
{
    for (int id = 0; id < SETTINGS_MAX; id++)
        settings->comms[id] = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &settings->comms[0]);
    settings->mpi_t = cvars_open();
}

/* Open MPI passes the preference on from 5.0.4; older ones lose it in silence: the default, measured twice. */
static bool can_prefer(struct problem *problem)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, major, minor, release;
    MPI_Get_library_version(version, &length);
    if (sscanf(version, "Open MPI v%d.%d.%d", &major, &minor, &release) != 3)
        return problem_set(problem, "prefer: only Open MPI can prefer a component per communicator");
    if (major * 10000 + minor * 100 + release < 50004)
        return problem_set(problem, "prefer: needs Open MPI 5.0.4 or later, this is %d.%d.%d", major, minor, release);
    return true;
}

static void copy_world(const char *prefer, MPI_Comm *copy)
{
    if (prefer == NULL) {
        MPI_Comm_dup(MPI_COMM_WORLD, copy);
        return;
    }
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_comm_coll_preference", prefer);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, copy);
    MPI_Info_free(&info);
}

/* What each rank can say before anything collective happens. */
static bool apply(struct settings *settings, struct command *command, const char *prefer, struct cvars *changes,
                  struct problem *problem)
{
    const struct pair *pair;
    int position = 0;
    if (prefer != NULL && !can_prefer(problem))
        return false;
    while ((pair = command_next(command, prefix, &position)) != NULL) {
        if (!settings->mpi_t)
            return problem_set(problem, "this MPI library has no MPI_T");
        if (!cvars_write(changes, pair->key + strlen(prefix), pair->value, problem))
            return false;
    }
    return command_complete(command, problem);
}

bool settings_define(struct settings *settings, struct team *team, struct command *command, struct problem *problem)
{
    static struct cvars changes;
    int64_t id;
    const char *prefer = command_text(command, "prefer");
    if (!command_integer(command, "id", 1, SETTINGS_MAX - 1, NULL, &id, problem))
        return false;
    changes.count = 0;
    apply(settings, command, prefer, &changes, problem);
    bool good = team_agree(team, problem);
    MPI_Comm copy = MPI_COMM_NULL;
    if (good)
        copy_world(prefer, &copy);
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
    if (settings->comms[id] != MPI_COMM_NULL)
        MPI_Comm_free(&settings->comms[id]);
    settings->comms[id] = copy;
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
        if (settings->comms[id] != MPI_COMM_NULL)
            MPI_Comm_free(&settings->comms[id]);
    if (settings->mpi_t)
        cvars_close();
}
