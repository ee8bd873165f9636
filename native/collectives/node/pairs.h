/* How two ranks of a node speak with each other alone: a queue of messages in each direction for every pair.
 *
 * A queue has PAIR_DEPTH lines: counters with what was posted beside them. It is a message of at most PAIR_ROOM bytes;
 * nothing, where it is in the slot of that line; the number of a cell that holds a piece of it; or the address of what
 * the receiver shall read itself. Both know the length of what comes, so nothing says which. Slots are the pair's own;
 * cells are a pool for all that a rank sends. Every counter has one writer and only grows:
 *
 *     line.count      written by the sender; the message number plus 1
 *     taken           written by the receiver; so many messages are done with: their lines, slots and cells are free
 *
 * Lines also carry how much their sender has taken of the other direction: where both speak, nobody reads `taken`.
 * Nothing here waits; see exchange.h. */
#ifndef UNISONO_NODE_PAIRS_H
#define UNISONO_NODE_PAIRS_H

#include "cells.h"

enum {
    PAIR_DEPTH = 4,
    PAIR_ROOM = LINE_BYTES - 16,
    PAIR_CELLS = 8,
};

struct pair_line {
    _Alignas(LINE_BYTES) _Atomic uint64_t count;
    uint64_t heard; /* what its sender has taken of the other direction */
    unsigned char payload[PAIR_ROOM];
};

/* What rank i keeps in its part of the segment for rank j: its messages to j, and how many of j's it has taken. */
struct pair_shared {
    struct pair_line lines[PAIR_DEPTH];
    struct line taken;
};

/* What this rank knows of its pair with another. */
struct pair {
    struct pair_shared *mine, *theirs;
    uint64_t sent, received; /* numbers of the next messages */
    uint64_t known;          /* so many of those sent have been taken */
    uint64_t lent;           /* the message of `lent` - 1 is to be read in this rank's memory; 0: none */
    int64_t left_out, left_in, at_out, at_in; /* of the exchange that goes on */
};

/* One rank's own, in its part of the segment. After it: struct pair_shared for each rank, slots for each, cells. */
struct pairs {
    struct segment segment;
    int64_t shared_at, slots_at, cells_at; /* in a rank's part */
    int64_t slot_bytes, cell_bytes;        /* no slots: PAIR_ROOM */
    int64_t cell_stride;                   /* from one cell to the next */
    uint64_t places;                       /* taken of cells until now */
    int64_t streams_from;                  /* copy_streams_from() */
    struct {
        int to;          /* -1: never used */
        uint64_t number; /* of the message that it held */
    } uses[PAIR_CELLS];
    int next_cell;
    struct pair pairs[]; /* by local number */
};

/* Makes node->pairs when called for the first time; collective over the node, the same answer on all. False: there is
 * only the way by messages. */
bool pairs_ready(struct coll_comm *comm);
void pairs_free(struct node *node);

/* Of rank `local`, for message `number` to rank `to`. */
static inline unsigned char *pair_slot(const struct pairs *pairs, int local, int to, uint64_t number)
{
    int64_t slot = (int64_t)to * PAIR_DEPTH + (int64_t)(number % PAIR_DEPTH);
    return (unsigned char *)segment_of(&pairs->segment, local) + pairs->slots_at + slot * pairs->slot_bytes;
}

/* Where a piece lies: in which cell, and how many bytes from where it begins. Posted with the piece. */
struct pair_place {
    int32_t cell, offset;
};

static inline unsigned char *pair_cell(const struct pairs *pairs, int local, struct pair_place place)
{
    return (unsigned char *)segment_of(&pairs->segment, local) + pairs->cells_at + place.cell * pairs->cell_stride +
           place.offset;
}

/* For the next piece of so many bytes in this cell, which is this rank's, of a message that goes this way. */
static inline struct pair_place pair_place(struct pairs *pairs, int cell, int64_t bytes, enum cell_way way)
{
    int64_t each = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES, offset = 0;
    if (way == CELLS_LATE)
        offset = (int64_t)(pairs->places++ / PAIR_CELLS % (uint64_t)(pairs->cell_stride / each)) * each;
    return (struct pair_place){cell, (int32_t)offset};
}

/* Whether message `number` has been taken, or so many before it that there is room for it. */
static inline bool pair_taken(struct pair *pair, uint64_t number)
{
    if (pair->known <= number)
        pair->known = atomic_load_explicit(&pair->theirs->taken.count, memory_order_acquire);
    return pair->known > number;
}

static inline bool pair_room(struct pair *pair)
{
    return pair->sent < PAIR_DEPTH || pair_taken(pair, pair->sent - PAIR_DEPTH);
}

/* The line of the next message; only when there is room. */
static inline struct pair_line *pair_line(const struct pair *pair)
{
    return &pair->mine->lines[pair->sent % PAIR_DEPTH];
}

static inline void pair_post(struct pair *pair, struct pair_line *line)
{
    line->heard = pair->received;
    atomic_store_explicit(&line->count, ++pair->sent, memory_order_release);
}

/* What has come, or NULL; the same until pair_take(). */
static inline const struct pair_line *pair_came(struct pair *pair)
{
    const struct pair_line *line = &pair->theirs->lines[pair->received % PAIR_DEPTH];
    if (atomic_load_explicit(&line->count, memory_order_acquire) != pair->received + 1)
        return NULL;
    if (pair->known < line->heard)
        pair->known = line->heard;
    return line;
}

static inline void pair_take(struct pair *pair)
{
    atomic_store_explicit(&pair->mine->taken.count, ++pair->received, memory_order_release);
}

#endif
