#include "numa.h"

#include <ctype.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char nodes_folder[] = "/sys/devices/system/node", cpus_folder[] = "/sys/devices/system/cpu";

/* A list as 0-3,8,10-11; what is not understood ends it. */
static void read_list(FILE *file, struct cpus *cpus)
{
    int from, to;
    char mark = ',';
    while (mark == ',' && fscanf(file, "%d", &from) == 1) {
        to = from;
        if (fscanf(file, "%c", &mark) != 1)
            mark = '\n';
        if (mark == '-' && (fscanf(file, "%d", &to) != 1 || fscanf(file, "%c", &mark) != 1))
            mark = '\n';
        for (int cpu = from < 0 ? 0 : from; cpu <= to && cpu < NUMA_CPUS; cpu++)
            cpus_add(cpus, cpu);
    }
}

/* Whether there are any, and all of them are among the others. */
static bool within(const struct cpus *cpus, const struct cpus *others)
{
    bool any = false;
    for (size_t i = 0; i < sizeof cpus->words / sizeof *cpus->words; i++) {
        if ((cpus->words[i] & ~others->words[i]) != 0)
            return false;
        any = any || cpus->words[i] != 0;
    }
    return any;
}

/* Domains of memory alone have CPUs of nobody. */
static int find_numa(const char *root, const struct cpus *cpus)
{
    char path[512];
    int found = -1;
    snprintf(path, sizeof path, "%s%s", root, nodes_folder);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return -1;
    for (struct dirent *entry; found < 0 && (entry = readdir(folder)) != NULL;) {
        struct cpus here = {{0}};
        if (strncmp(entry->d_name, "node", 4) != 0 || !isdigit((unsigned char)entry->d_name[4]))
            continue;
        snprintf(path, sizeof path, "%s%s/node%d/cpulist", root, nodes_folder, atoi(entry->d_name + 4));
        FILE *file = fopen(path, "r");
        if (file == NULL)
            continue;
        read_list(file, &here);
        fclose(file);
        if (within(cpus, &here))
            found = atoi(entry->d_name + 4);
    }
    closedir(folder);
    return found;
}

static int socket_of(const char *root, int cpu)
{
    char path[512];
    int socket = -1;
    snprintf(path, sizeof path, "%s%s/cpu%d/topology/physical_package_id", root, cpus_folder, cpu);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    if (fscanf(file, "%d", &socket) != 1 || socket < 0)
        socket = -1;
    fclose(file);
    return socket;
}

static int find_socket(const char *root, const struct cpus *cpus)
{
    int found = -1;
    for (int cpu = 0; cpu < NUMA_CPUS; cpu++) {
        if (!cpus_have(cpus, cpu))
            continue;
        int socket = socket_of(root, cpu);
        if (socket < 0 || (found >= 0 && socket != found))
            return -1;
        found = socket;
    }
    return found;
}

struct bound numa_bound(const char *root, const struct cpus *cpus)
{
    return (struct bound){find_numa(root, cpus), find_socket(root, cpus)};
}

int fake_first(const char *text, int number)
{
    if (text[0] == '%') {
        int count = atoi(text + 1);
        return count > 0 ? number % count : 0;
    }
    const char *at = text;
    for (int first = 0;;) {
        int here = atoi(at) > 0 ? atoi(at) : 1;
        if (number - first < here)
            return first;
        first += here;
        at = strchr(at, ',');
        at = at == NULL ? text : at + 1;
    }
}

static struct bound own_bound(void)
{
    struct bound unknown = {-1, -1};
#ifdef UNISONO_SIMULATED
    return unknown; /* ranks of a simulation are one process */
#else
    struct cpus cpus = {{0}};
    /* A set of the kernel's is an array of such words. */
    if (sched_getaffinity(0, sizeof cpus, (cpu_set_t *)(void *)cpus.words) != 0)
        return unknown;
    return numa_bound("", &cpus);
#endif
}

/* What ranks of a machine tell one another. */
struct told {
    int rank, node, domain[BY_NUMA + 1]; /* by division; -1: none */
};

/* The first way, of the finest, in which every rank of the node is within one domain. */
static enum division divided(const struct told *all, int ranks, int node)
{
    enum division division = BY_NUMA;
    for (int i = 0; i < ranks; i++)
        while (all[i].node == node && all[i].domain[division] < 0)
            division--;
    return division;
}

/* Pretended domains: by a rank's place on its node. */
static void pretend(struct told *all, int ranks, const char *text)
{
    for (int i = 0; i < ranks; i++) {
        int place = 0;
        for (int j = 0; j < i; j++)
            place += all[j].node == all[i].node;
        all[i].domain[BY_NUMA] = fake_first(text, place);
    }
}

int numa_start(MPI_Comm near, int node, int *first, enum division *division)
{
    int ranks, me;
    struct told own = {.node = node};
    struct bound bound = own_bound();
    PMPI_Comm_rank(MPI_COMM_WORLD, &own.rank);
    PMPI_Comm_size(near, &ranks);
    PMPI_Comm_rank(near, &me);
    own.domain[UNDIVIDED] = 0, own.domain[BY_SOCKET] = bound.socket, own.domain[BY_NUMA] = bound.numa;
    struct told *all = malloc((size_t)ranks * sizeof *all);
    int good = all != NULL, both = 0;
    int error = PMPI_Allreduce(&good, &both, 1, MPI_INT, MPI_MIN, near);
    if (error == MPI_SUCCESS)
        error = both ? PMPI_Allgather(&own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE, near)
                     : MPI_ERR_NO_MEM;
    if (error == MPI_SUCCESS) {
        if (getenv("UNISONO_FAKE_NUMA") != NULL)
            pretend(all, ranks, getenv("UNISONO_FAKE_NUMA"));
        *division = divided(all, ranks, node);
        *first = own.rank;
        for (int i = ranks - 1; i >= 0; i--)
            if (all[i].node == node && all[i].domain[*division] == all[me].domain[*division])
                *first = all[i].rank;
    }
    free(all);
    return error;
}
