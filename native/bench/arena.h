/* The memory a rank's message buffers lie in: one mapping, kept between measures, cut into slots that take turns. */
#ifndef UNISONO_ARENA_H
#define UNISONO_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "problem.h"

struct arena {
    char *base;
    size_t mapped;
    size_t send_bytes, receive_bytes; /* of one slot */
    size_t stride;
    size_t slots;
    size_t next;
    size_t step; /* from one slot to the next in turn: large and coprime to `slots` when cold, so that no prefetcher
                    follows */
    bool cold;   /* a slot that comes round again has left the cache */
};

struct slot {
    char *send;
    char *receive;
};

/* Bytes from one slot to the next. */
size_t arena_stride(size_t send_bytes, size_t receive_bytes);

/* How many slots further the next turn is; coprime to `slots`, so that all get their turn. */
size_t arena_step(size_t slots);

/* Cuts the arena, mapping (and touching, so that the pages are this rank's own and near it) what is missing. */
bool arena_cut(struct arena *arena, size_t send_bytes, size_t receive_bytes, size_t slots, bool cold,
               struct problem *problem);

/* The slot whose turn it is. */
struct slot arena_next(struct arena *arena);
struct slot arena_slot(const struct arena *arena, size_t index);

void arena_free(struct arena *arena);

#endif
