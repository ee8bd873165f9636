#include "duplicates.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cvars.h"
#include "job.h"
#include "peers.h"
#include "prefer.h"

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static bool is_open;

enum { HAN_BY_DEFAULT = 50000, NAME_BYTES = 128 };

bool duplicates_same(const struct implementation *a, const struct implementation *b)
{
    return a == b || (a->kind == BY_COMPONENT && b->kind == BY_COMPONENT && strcmp(a->name, b->name) == 0);
}

/* Components that are there but would leave all to others on such a communicator. */
static bool would_serve(const char *component, const struct topology *topology)
{
    if (strcmp(component, "han") == 0)
        return topology->nodes > 1 && topology->most > 1;
    if (strcmp(component, "sm") == 0)
        return topology->nodes == 1;
    return true;
}

static bool can_prefer(const char *component, const struct topology *topology)
{
    char name[NAME_BYTES];
    struct problem problem = {""};
    snprintf(name, sizeof name, "coll_%s_priority", component);
    return prefer_possible(&problem) && cvars_known(name) && would_serve(component, topology);
}

/* Has coll/tuned take this algorithm in the communicators that are made from now on. */
static bool force(const struct implementation *implementation, struct cvars *changes)
{
    const char *collective = collective_names[implementation->collective];
    char name[NAME_BYTES], segment[32];
    struct problem problem = {""};
    if (!cvars_write(changes, "coll_tuned_use_dynamic_rules", "1", &problem))
        return false;
    snprintf(name, sizeof name, "coll_tuned_%s_algorithm", collective);
    if (!cvars_write(changes, name, implementation->name, &problem))
        return false;
    if (implementation->segment == 0)
        return true;
    snprintf(name, sizeof name, "coll_tuned_%s_algorithm_segmentsize", collective);
    snprintf(segment, sizeof segment, "%lld", (long long)implementation->segment);
    return cvars_write(changes, name, segment, &problem);
}

static bool agree(bool mine, MPI_Comm comm)
{
    int good = mine, all = 0;
    return PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

/* With several nodes, han would come before tuned where it cannot be told not to. */
static bool reaches_tuned(const struct topology *topology)
{
    struct problem problem = {""};
    int version = prefer_openmpi_version();
    return version != 0 && (version < HAN_BY_DEFAULT || topology->nodes == 1 || prefer_possible(&problem));
}

/* Control variables are the process's: whoever makes a communicator meanwhile would get the algorithm too, and reads what
 * is being written. So only where no other thread can be. */
static MPI_Comm copy_tuned(const struct coll_comm *ours, const struct implementation *implementation)
{
    static struct cvars changes;
    struct problem problem = {""};
    MPI_Comm copy = MPI_COMM_NULL;
    changes.count = 0;
    bool good = reaches_tuned(&ours->topology) && force(implementation, &changes);
    if (agree(good, ours->comm) &&
        prefer_dup(ours->comm, prefer_possible(&problem) ? "tuned" : NULL, &copy) != MPI_SUCCESS)
        copy = MPI_COMM_NULL;
    cvars_restore(&changes, &problem);
    return copy;
}

/* Once for the process; nothing in here waits for another rank. */
static bool open_variables(void)
{
    pthread_mutex_lock(&opening);
    is_open = is_open || cvars_open();
    bool good = is_open;
    pthread_mutex_unlock(&opening);
    return good;
}

MPI_Comm duplicates_make(const struct coll_comm *ours, const struct implementation *implementation)
{
    MPI_Comm copy = MPI_COMM_NULL;
    if ((implementation->kind == BY_TUNED && job.multiple) || !agree(open_variables() && peers_may_add(), ours->comm))
        return MPI_COMM_NULL;
    if (implementation->kind == BY_TUNED)
        return copy_tuned(ours, implementation);
    if (!agree(can_prefer(implementation->name, &ours->topology), ours->comm) ||
        prefer_dup(ours->comm, implementation->name, &copy) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    return copy;
}

void duplicates_end(void)
{
    if (is_open)
        cvars_close();
    is_open = false;
}
