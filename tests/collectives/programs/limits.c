/* limits fsize|as|cgroup one|all MIB [GROUP]: amid the run no file may grow any more (ulimit -f), or MIB are left of the address space
 * (ulimit -v), for rank 1 or for all, or of the memory of the control group in the folder GROUP; collectives go on as without the library.
 * "right" at the end. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* Of a control group: the file of version 2, or of version 1. */
static double group_value(const char *group, const char *new_name, const char *old_name)
{
    char path[512];
    double value = 0;
    snprintf(path, sizeof path, "%s/%s", group, new_name);
    FILE *file = fopen(path, "r");
    snprintf(path, sizeof path, "%s/%s", group, old_name);
    if (file == NULL)
        file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%lf", &value) != 1)
        exit(77);
    fclose(file);
    return value;
}

/* The program's own data, of which little is left then: what is over is the kernel's to end. */
static void fill(const char *group, double left)
{
    const double used = group_value(group, "memory.current", "memory.usage_in_bytes"),
                 most = group_value(group, "memory.max", "memory.limit_in_bytes");
    if (most - used <= left)
        return;
    if (mmap(NULL, (size_t)(most - used - left), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
             0) == MAP_FAILED)
        exit(77);
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
    every(MPI_COMM_WORLD, "the world before");
    if (strcmp(arguments[1], "cgroup") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            fill(arguments[4], atof(arguments[3]) * (1 << 20));
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (rank == 1 || strcmp(arguments[2], "all") == 0)
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
