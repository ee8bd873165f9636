/* In place of memory that processes share: one piece, for threads that stand for the ranks of a node. */
#ifndef UNISONO_STUB_SEGMENT_H
#define UNISONO_STUB_SEGMENT_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "node/segment.h"
#include "reserve.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *memory;

bool segment_create(struct segment *segment, struct coll_comm *comm, int64_t each)
{
    int64_t page = 4096, rounded = (each + page - 1) / page * page, bytes = rounded * comm->topology.locals;
    pthread_mutex_lock(&lock);
    if (memory == NULL) {
        memory = aligned_alloc((size_t)page, (size_t)bytes);
        if (memory != NULL)
            memset(memory, 0, (size_t)bytes);
    }
    pthread_mutex_unlock(&lock);
    *segment = (struct segment){.base = memory, .each = rounded, .bytes = bytes};
    return memory != NULL;
}

bool segment_offer(struct segment *segment, struct coll_comm *comm, int64_t each, struct shared_place *place, int *file)
{
    (void)place, (void)file;
    return segment_create(segment, comm, each);
}

bool segment_take(struct segment *segment, struct coll_comm *comm, int64_t each, const struct shared_place *place)
{
    (void)place;
    return segment_create(segment, comm, each);
}

void segment_free(struct segment *segment)
{
    segment->base = NULL;
}

void *reserve_get(size_t bytes)
{
    return calloc(1, bytes);
}

void reserve_put(void *given)
{
    free(given);
}

#endif
