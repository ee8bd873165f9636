#include "trial_time.h"

#include <float.h>
#include <stdlib.h>

#include "failure.h"
#include "node/node.h"
#include "trial_found.h"

enum { ROUNDS_SHORT = 6, ROUNDS_USUAL = 4, ROUNDS_LONG = 2, HALVES = 2, TIMES = ROUNDS_SHORT * TRIAL_CALLS_MOST };

/* Seconds of each call of a task, its algorithms one after the other: of this rank, and of the slowest. */
static float mine[TIMES * TRIAL_ALGORITHMS], slowest[TIMES * TRIAL_ALGORITHMS];

/* It may have been refused memory since. */
static bool still_applies(const struct task *task, int which, const struct coll_comm *comm)
{
    const int index = task->algorithm[which];
    return index == trial_rival_of(task->call.collective) || algorithm_applies(algorithm_at(index), comm, &task->shape);
}

/* A rank that could not do its part says so: the others wait for it. */
static void run_once(const struct task *task, int which, struct coll_comm *comm)
{
    const int index = task->algorithm[which];
    int error = MPI_SUCCESS;
    if (index == trial_rival_of(task->call.collective))
        task_run_rival(task, comm->comm);
    else
        error = task_run_ours(task, algorithm_at(index), comm);
    if (error != MPI_SUCCESS)
        failure_found(comm->fabric.failure, error);
}

static int rounds_of(const struct task *task)
{
    return task->calls == TRIAL_CALLS_MOST   ? ROUNDS_SHORT
           : task->calls == TRIAL_CALLS_LONG ? ROUNDS_LONG
                                             : ROUNDS_USUAL;
}

/* Algorithms take turns, so that what disturbs the machine disturbs all alike. The first turn, in which memory is touched for the
 * first time, is not counted. */
void trial_time(const struct task *task, struct coll_comm *comm)
{
    const int rounds = rounds_of(task);
    struct coll_comm *meeting = task->room->meeting != NULL ? task->room->meeting : comm;
    for (int i = 0; i < rounds * task->calls * task->count; i++)
        mine[i] = FLT_MAX;
    for (int round = -1; round < rounds; round++)
        for (int i = 0; i < task->count; i++)
            for (int call = 0; call < task->calls && still_applies(task, i, comm); call++) {
                task_write(task, comm);
                node_barrier(meeting);
                const double start = PMPI_Wtime();
                run_once(task, i, comm);
                const double seconds = PMPI_Wtime() - start;
                if (round >= 0)
                    mine[(round * task->calls + call) * task->count + i] = (float)seconds;
            }
}

bool trial_share_times(const struct task *task, const struct coll_comm *comm)
{
    const int times = rounds_of(task) * task->calls * task->count;
    return PMPI_Allreduce(mine, slowest, times, MPI_FLOAT, MPI_MAX, comm->comm) == MPI_SUCCESS;
}

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

double trial_seconds(const struct task *task, int which, int half)
{
    float seconds[TIMES];
    double sum = 0;
    int count = 0;
    for (int round = half; round < rounds_of(task); round += HALVES)
        for (int call = 0; call < task->calls; call++)
            seconds[count++] = slowest[(round * task->calls + call) * task->count + which];
    qsort(seconds, (size_t)count, sizeof *seconds, compare);
    const int quickest = count < 4 ? 1 : count / 4;
    for (int i = 0; i < quickest; i++)
        sum += (double)seconds[i];
    return sum / quickest;
}
