#include "arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Buffers start on their own pair of cache lines, as an allocator aligned for vectors would place them. */
enum { ALIGNMENT = 128, PAGE = 4096 };

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

size_t arena_stride(size_t send_bytes, size_t receive_bytes)
{
    size_t stride = aligned(send_bytes) + aligned(receive_bytes);
    return stride ? stride : ALIGNMENT;
}

static size_t common_divisor(size_t a, size_t b)
{
    while (b != 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Near the golden section, where successive multiples stay farthest from one another. */
size_t arena_step(size_t slots)
{
    size_t step = slots * 5 / 8 + 1;
    while (common_divisor(step, slots) != 1)
        step++;
    return step;
}

bool arena_cut(struct arena *arena, size_t send_bytes, size_t receive_bytes, size_t slots, bool cold,
               struct problem *problem)
{
    size_t stride = arena_stride(send_bytes, receive_bytes);
    size_t needed = stride * slots;
    if (needed > arena->mapped) {
        arena_free(arena);
        size_t bytes = (needed + PAGE - 1) / PAGE * PAGE;
        void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED)
            return problem_set(problem, "memory: mapping %zu bytes: %s", bytes, strerror(errno));
        *arena = (struct arena){.base = base, .mapped = bytes};
        memset(base, 0, bytes);
    }
    bool same = arena->stride == stride;
    arena->send_bytes = send_bytes;
    arena->receive_bytes = receive_bytes;
    arena->stride = stride;
    arena->slots = slots;
    arena->cold = cold;
    arena->step = cold ? arena_step(slots) : 1;
    arena->next = same ? arena->next % slots : 0;
    return true;
}

struct slot arena_slot(const struct arena *arena, size_t index)
{
    char *start = arena->base + index * arena->stride;
    return (struct slot){.send = start, .receive = start + aligned(arena->send_bytes)};
}

struct slot arena_next(struct arena *arena)
{
    struct slot slot = arena_slot(arena, arena->next);
    arena->next = (arena->next + arena->step) % arena->slots;
    return slot;
}

void arena_free(struct arena *arena)
{
    if (arena->mapped != 0)
        munmap(arena->base, arena->mapped);
    *arena = (struct arena){0};
}
