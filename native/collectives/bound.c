#include "bound.h"

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
        for (int cpu = from < 0 ? 0 : from; cpu <= to && cpu < BOUND_CPUS; cpu++)
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
    for (int cpu = 0; cpu < BOUND_CPUS; cpu++) {
        if (!cpus_have(cpus, cpu))
            continue;
        int socket = socket_of(root, cpu);
        if (socket < 0 || (found >= 0 && socket != found))
            return -1;
        found = socket;
    }
    return found;
}

/* The lowest of `cpus`; -1: none. */
static int lowest_of(const struct cpus *cpus)
{
    for (int cpu = 0; cpu < BOUND_CPUS; cpu++)
        if (cpus_have(cpus, cpu))
            return cpu;
    return -1;
}

/* A file of one cache of a CPU; NULL: there is none such. */
static FILE *open_cache(const char *root, int cpu, int index, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s/cpu%d/cache/index%d/%s", root, cpus_folder, cpu, index, name);
    return fopen(path, "r");
}

/* The CPUs that share this cache, unless it is for instructions alone. Returns its level; 0: not that. */
static int read_cache(const char *root, int cpu, int index, struct cpus *sharing)
{
    int level = 0;
    char kind[16] = "";
    FILE *file = open_cache(root, cpu, index, "type");
    if (file != NULL) {
        if (fscanf(file, "%15s", kind) != 1)
            kind[0] = '\0';
        fclose(file);
    }
    if (strcmp(kind, "Unified") != 0 && strcmp(kind, "Data") != 0)
        return 0;
    file = open_cache(root, cpu, index, "level");
    if (file != NULL) {
        if (fscanf(file, "%d", &level) != 1 || level < 0)
            level = 0;
        fclose(file);
    }
    file = level > 0 ? open_cache(root, cpu, index, "shared_cpu_list") : NULL;
    if (file == NULL)
        return 0;
    read_list(file, sharing);
    fclose(file);
    return level;
}

/* in[BY_CACHE] and in[BY_INNER_CACHE]. */
static void find_caches(const char *root, const struct cpus *cpus, int *in)
{
    enum { LEVELS = 8 };
    int cpu = lowest_of(cpus), found[LEVELS], last = 0;
    for (int level = 0; level < LEVELS; level++)
        found[level] = -1;
    for (int index = 0; cpu >= 0 && index < 2 * LEVELS; index++) {
        struct cpus sharing = {{0}};
        int level = read_cache(root, cpu, index, &sharing);
        if (level <= 0 || level >= LEVELS)
            continue;
        last = level > last ? level : last;
        found[level] = within(cpus, &sharing) ? lowest_of(&sharing) : -1;
    }
    in[BY_CACHE] = found[last];
    in[BY_INNER_CACHE] = last > 2 ? found[last - 1] : -1;
}

struct bound bound_within(const char *root, const struct cpus *cpus)
{
    struct bound bound = {{find_socket(root, cpus), find_numa(root, cpus)}};
    find_caches(root, cpus, bound.in);
    return bound;
}

struct bound bound_now(void)
{
    struct cpus cpus = {{0}};
    /* A set of the kernel's is an array of such words. */
    if (sched_getaffinity(0, sizeof cpus, (cpu_set_t *)(void *)cpus.words) != 0)
        cpus = (struct cpus){{0}};
    return bound_within("", &cpus);
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
