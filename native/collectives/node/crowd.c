#include "crowd.h"

static bool crowded, is_unfit, heeds_others = true; /* is_unfit: the ranks do not fit their CPUs, whoever else runs */

bool crowd(void)
{
    return crowded;
}

void crowd_heed_others(bool heed)
{
    heeds_others = heed;
}

bool crowd_counts(void)
{
    return heeds_others ? crowded : is_unfit;
}

#ifdef UNISONO_SIMULATED

int crowd_start(MPI_Comm near)
{
    (void)near;
    return MPI_SUCCESS;
}

#else

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Processes that would run now on this machine, whatever namespaces and jobs they are of; 0: it does not say. */
static long running(void)
{
    char line[256];
    long count = 0;
    FILE *file = fopen("/proc/stat", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "procs_running %ld", &count) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return count;
}

/* The least of it within a millisecond: what only comes and goes does not count. Before, the launcher and the MPI library's
 * threads get a CPU for what MPI_Init has left them to do: else they would wait for one all the while, and count. */
static long running_for_long(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    long least = running();
    for (double begun = PMPI_Wtime(), now = begun; now < begun + 1e-3; now = PMPI_Wtime()) {
        long count = running();
        least = count < least ? count : least;
    }
    return least;
}

/* Whether as many ranks as have this mask, or as there are at all, fit its CPUs, or all the masks'. */
static bool fit(const cpu_set_t *masks, int ranks, const cpu_set_t *own)
{
    cpu_set_t all;
    int alike = 0;
    CPU_ZERO(&all);
    for (int rank = 0; rank < ranks; rank++) {
        alike += CPU_EQUAL(&masks[rank], own);
        CPU_OR(&all, &all, &masks[rank]);
    }
    return CPU_COUNT(own) == 0 || (alike <= CPU_COUNT(own) && ranks <= CPU_COUNT(&all));
}

int crowd_start(MPI_Comm near)
{
    cpu_set_t own;
    int ranks;
    PMPI_Comm_size(near, &ranks);
    cpu_set_t *masks = malloc((size_t)ranks * sizeof *masks);
    enum { UNFIT, CROWDED, TERMS };
    int mine[TERMS] = {[UNFIT] = masks == NULL}, any[TERMS] = {0};
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    CPU_ZERO(&own);
    sched_getaffinity(0, sizeof own, &own);
    /* Who else wants to run, as ranks in other containers, shows in how many do; a few always come and go. */
    mine[CROWDED] = running_for_long() > cpus + 1 + cpus / 8;
    int error = PMPI_Allreduce(mine, any, TERMS, MPI_INT, MPI_MAX, near);
    if (error == MPI_SUCCESS && !any[UNFIT]) {
        error = PMPI_Allgather(&own, (int)sizeof own, MPI_BYTE, masks, (int)sizeof own, MPI_BYTE, near);
        mine[UNFIT] = error != MPI_SUCCESS || !fit(masks, ranks, &own);
        error = error ? error : PMPI_Allreduce(&mine[UNFIT], &any[UNFIT], 1, MPI_INT, MPI_MAX, near);
    }
    free(masks);
    is_unfit = any[UNFIT];
    crowded = any[UNFIT] || any[CROWDED];
    return error;
}

#endif
