#include "reserve.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "failure.h"

/* Bytes: for some tens of communicators, and for the tables of one or two of all ranks. */
static const size_t fixed = 256 << 10, each_rank = 64;
enum { ALIGNMENT = 64 };

static char *room;
static size_t room_bytes;
static size_t used; /* taken once, never again: calls of several threads add to it */

bool reserve_start(int ranks)
{
    if (room != NULL)
        return true;
    room_bytes = fixed + each_rank * (size_t)ranks;
    room = calloc(1, room_bytes);
    return room != NULL;
}

bool reserve_is_touched(void)
{
    return __atomic_load_n(&used, __ATOMIC_RELAXED) > 0;
}

void *reserve_get(size_t bytes)
{
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (memory != NULL)
        return memory;
    size_t takes = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT,
           skip = (ALIGNMENT - (uintptr_t)room % ALIGNMENT) % ALIGNMENT;
    size_t at = __atomic_fetch_add(&used, takes, __ATOMIC_RELAXED);
    if (room == NULL || at > room_bytes || takes + skip > room_bytes - at) {
        fprintf(
            stderr,
            "unisono: this process has no memory left for a communicator or a nonblocking call (%zu bytes), nor has "
            "what was put by\n",
            bytes);
        failure_end_job(EXIT_FAILURE);
        abort();
    }
    return room + skip + at;
}

void reserve_put(void *memory)
{
    const char *at = memory;
    if (room == NULL || at < room || at >= room + room_bytes)
        free(memory);
}
