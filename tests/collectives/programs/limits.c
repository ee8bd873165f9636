/* limits fsize|as one|all MIB: amid the run no file may grow any more (ulimit -f), or MIB are left of the address space (ulimit -v), for rank 1 or
 * for all; collectives go on as without the library. "right" at the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "every.h"

enum { COMMS = 8, BEFORE = 2 };

static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        exit(77);
    fclose(file);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void limit(const char *what, rlim_t left)
{
    const int which = strcmp(what, "as") == 0 ? RLIMIT_AS : RLIMIT_FSIZE;
    struct rlimit now;
    getrlimit(which, &now);
    now.rlim_cur = which == RLIMIT_AS ? address_space() + left : 4096;
    if (setrlimit(which, &now) != 0)
        exit(77);
}

int main(int count, char **arguments)
{
    MPI_Comm comm[COMMS];
    int rank;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < BEFORE; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    if (rank == 1 || strcmp(arguments[2], "all") == 0)
        limit(arguments[1], (rlim_t)atoi(arguments[3]) << 20);
    every(MPI_COMM_WORLD, "the world");
    for (int i = 0; i < COMMS; i++) {
        if (i >= BEFORE)
            MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 == 0 ? rank : -rank, &comm[i]);
        every(comm[i], i < BEFORE ? "made before" : "made afterwards");
    }
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comm[i]);
    MPI_Allreduce(MPI_IN_PLACE, &every_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(every_wrong > 0 ? "wrong" : "right");
    MPI_Finalize();
    return 0;
}
