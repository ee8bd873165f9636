#include "sweep.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { CACHE_LINE = 64 };

bool sweep_prepare(struct sweep *sweep, size_t bytes, struct problem *problem)
{
    if (bytes <= sweep->mapped)
        return true;
    sweep_free(sweep);
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return problem_set(problem, "memory: mapping %zu bytes: %s", bytes, strerror(errno));
    memset(base, 1, bytes);
    *sweep = (struct sweep){.base = base, .mapped = bytes};
    return true;
}

void sweep_caches(const struct sweep *sweep)
{
    const volatile char *place = sweep->base;
    for (size_t at = 0; at < sweep->mapped; at += CACHE_LINE)
        (void)place[at];
}

void sweep_free(struct sweep *sweep)
{
    if (sweep->mapped != 0)
        munmap((void *)sweep->base, sweep->mapped);
    *sweep = (struct sweep){0};
}
