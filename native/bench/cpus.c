#include "cpus.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cpus_count(const struct cpus *cpus)
{
    int count = 0;
    for (int i = 0; i < CPUS_WORDS; i++)
        count += __builtin_popcountll(cpus->words[i]);
    return count;
}

bool cpus_within(const struct cpus *inner, const struct cpus *outer)
{
    for (int i = 0; i < CPUS_WORDS; i++)
        if (inner->words[i] & ~outer->words[i])
            return false;
    return true;
}

static bool read_number(const char **text, long *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    *number = strtol(*text, &end, 10);
    *text = end;
    return *number < CPUS_MAX;
}

bool cpus_parse(const char *list, struct cpus *cpus)
{
    memset(cpus, 0, sizeof *cpus);
    while (*list != '\0' && *list != '\n') {
        long first, last;
        if (!read_number(&list, &first))
            return false;
        last = first;
        if (*list == '-' && (list++, !read_number(&list, &last) || last < first))
            return false;
        for (long cpu = first; cpu <= last; cpu++)
            cpus_add(cpus, (int)cpu);
        if (*list == ',')
            list++;
        else if (*list != '\0' && *list != '\n')
            return false;
    }
    return true;
}

void cpus_of_process(struct cpus *cpus)
{
    memset(cpus, 0, sizeof *cpus);
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    if (set != NULL && sched_getaffinity(0, bytes, set) == 0)
        for (int cpu = 0; cpu < CPUS_MAX; cpu++)
            if (CPU_ISSET_S(cpu, bytes, set))
                cpus_add(cpus, cpu);
    CPU_FREE(set);
    if (cpus_count(cpus) == 0)
        cpus_add(cpus, 0);
}

/* First line of a file; false when it cannot be read. */
static bool read_line(const char *path, char *line, int room)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    bool good = fgets(line, room, file) != NULL;
    fclose(file);
    return good;
}

static bool belongs(const struct cpus *cpus, int node)
{
    char path[96], line[8192];
    struct cpus members;
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
    if (!read_line(path, line, sizeof line) || !cpus_parse(line, &members))
        return false;
    for (int word = 0; word < CPUS_WORDS; word++)
        if (members.words[word] & cpus->words[word])
            return true;
    return false;
}

void cpus_numa_nodes(const struct cpus *cpus, struct cpus *nodes)
{
    char line[8192];
    struct cpus online = {0};
    memset(nodes, 0, sizeof *nodes);
    if (read_line("/sys/devices/system/node/online", line, sizeof line))
        cpus_parse(line, &online);
    for (int node = 0; node < CPUS_MAX; node++)
        if (cpus_has(&online, node) && belongs(cpus, node))
            cpus_add(nodes, node);
    if (cpus_count(nodes) == 0)
        cpus_add(nodes, 0);
}

int64_t cpus_last_cache(int cpu, struct cpus *sharing)
{
    int64_t bytes = (int64_t)32 << 20;
    int deepest = 0;
    memset(sharing, 0xff, sizeof *sharing);
    for (int index = 0; index < 8; index++) {
        char path[128], size[32], line[8192], level[16];
        struct cpus sharers;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, index);
        if (!read_line(path, level, sizeof level) || atoi(level) <= deepest)
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/size", cpu, index);
        if (!read_line(path, size, sizeof size))
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
        if (!read_line(path, line, sizeof line) || !cpus_parse(line, &sharers))
            continue;
        char *unit;
        long long number = strtoll(size, &unit, 10);
        bytes = number << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 0);
        deepest = atoi(level);
        *sharing = sharers;
    }
    return bytes;
}

bool cpus_oversubscribed(const struct cpus *masks, int count)
{
    struct cpus all = {0};
    for (int i = 0; i < count; i++)
        for (int word = 0; word < CPUS_WORDS; word++)
            all.words[word] |= masks[i].words[word];
    if (count > cpus_count(&all))
        return true;
    for (int i = 0; i < count; i++) {
        int inside = 0;
        for (int j = 0; j < count; j++)
            inside += cpus_within(&masks[j], &masks[i]);
        if (inside > cpus_count(&masks[i]))
            return true;
    }
    return false;
}
