/* Where calls are counted: one slab of memory, taken once, never grown.
 *
 * A cell is one (call path, function, communicator shape, phase, message size). The first SIZES_EXACT sizes of a site
 * (all of these but the size) have a cell each; further sizes share one cell for every power of two. What does not fit
 * is counted as dropped. Cells, sites and paths are dense arrays in order of appearance, each found through an index
 * with open addressing that is at most half full. One thread at a time; nothing here depends on MPI. */
#ifndef UNISONO_TABLE_H
#define UNISONO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "amount.h"

enum { SIZES_EXACT = 16, PATH_MOST = 16 };
#define TABLE_NO_CELL UINT32_MAX

/* The record of the file (README.md), with times in ticks until it is written. */
struct cell {
    uint32_t path;
    uint16_t function;
    uint16_t phase;
    int32_t comm; /* NOT_KNOWN: none */
    uint32_t bin; /* 0: one exact size; b + 1: sizes of b bits. 0 in the file */
    int64_t size_min;
    int64_t size_max;
    uint64_t size_sum;
    uint64_t calls;
    int64_t sent; /* NOT_KNOWN as soon as one call's is not */
    int64_t received;
    uint64_t time;
    uint64_t time_min;
    uint64_t time_max;
    int64_t waiting; /* NOT_KNOWN: not measured */
};
_Static_assert(sizeof(struct cell) == 96, "the file's record has no holes");

struct site {
    uint32_t path;
    uint16_t function;
    uint16_t phase;
    int32_t comm;
    uint32_t sizes;
};

struct path {
    uint64_t hash;
    uint32_t first; /* in `frames` */
    uint32_t count;
};

/* Beside a cell. Of a nonblocking collective: the calls of it that are complete, and the ticks that the program waited for
 * them, in calls of other cells; of one that makes a persistent request its starts, and the ticks of these and the waits. Of a call that completes requests: those that it completed, and their part of its ticks. */
struct completion {
    uint64_t calls;
    uint64_t time;
};

/* Which of `items` have which hash: slots hold item + 1, 0 is empty. */
struct index {
    uint32_t *slots;
    uint32_t mask;
};

struct table {
    void *memory;
    size_t bytes;
    struct cell *cells;
    struct completion *completions; /* of each cell */
    struct site *sites;
    struct path *paths;
    uint64_t *frames;
    struct index cell_index, site_index, path_index;
    uint32_t cell_count, site_count, path_count, frame_count;
    uint32_t cell_limit, site_limit, path_limit, frame_limit;
    uint64_t calls;   /* all, dropped or not */
    uint64_t dropped; /* calls without a cell */
    uint64_t time;    /* ticks of all calls */
};

/* Where and what a call was; the size is in its amount. Two words that stay in registers: members that are stored one by
 * one and loaded together cost a stall of some 10 ns. */
struct place {
    uint64_t where; /* path, comm */
    uint64_t what;  /* function, phase */
};

static inline struct place place_of(uint32_t path, uint16_t function, uint16_t phase, int32_t comm)
{
    return (struct place){(uint64_t)path << 32 | (uint32_t)comm, (uint64_t)function << 16 | phase};
}

/* The largest table that `bytes` hold; false when there is no memory or not even the smallest fits. */
bool table_create(struct table *table, size_t bytes);
void table_free(struct table *table);

/* Forget all calls and paths, keep the memory. */
void table_reset(struct table *table);

/* The number of the path of these return addresses (innermost first), the empty path being 0; 0 also when there is no
 * more room for paths, with `*lost` set. */
uint32_t table_path(struct table *table, uint64_t hash, const void *const *frames, uint32_t count, bool *lost);

/* Count one call of `ticks`; `waiting` is NOT_KNOWN or ticks. The number of its cell, TABLE_NO_CELL if it is dropped. */
uint32_t table_add(struct table *table, struct place place, const struct amount *amount, uint64_t ticks,
                   int64_t waiting);

/* `calls` more are complete for which `ticks` were waited. */
void table_complete(struct table *table, uint32_t cell, uint64_t calls, uint64_t ticks);

#endif
