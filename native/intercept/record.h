/* Recording: what the generated wrappers do around a call. Below it nobody knows of symbols, above it nobody of tables. */
#ifndef UNISONO_RECORD_H
#define UNISONO_RECORD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "amount.h"
#include "comm.h"
#include "functions.h"
#include "pending.h"
#include "settings.h"
#include "table.h"
#include "ticks.h"

enum { SLABS_MOST = 16, PHASES_MOST = 256, PHASE_NAME = 64 };

/* Messages to one rank of MPI_COMM_WORLD. */
struct pair {
    uint64_t calls;
    uint64_t bytes;
};

/* A table and the threads that use it; with MPI_THREAD_MULTIPLE they take turns. */
struct slab {
    struct table table;
    bool taken;
} __attribute__((aligned(128)));

struct record {
    struct settings settings;
    bool multiple; /* MPI_THREAD_MULTIPLE: everything shared needs care */
    int slabs;
    struct slab slab[SLABS_MOST];
    struct pair *pairs;    /* by rank; only the pages that are used take memory */
    struct pair elsewhere; /* to ranks that were not there at MPI_Init */
    uint32_t threads;
    uint32_t epoch; /* how often all calls have been forgotten */
    uint64_t overhead_ns;
    uint64_t paths_lost;                  /* calls whose path found no room: they are on the empty path */
    uint64_t phases_lost;                 /* phases whose names found no room */
    char phases[PHASES_MOST][PHASE_NAME]; /* [0] is "" */
    uint32_t phase_count;
};
extern struct record record;

/* By function: whether its calls are recorded now. All false without UNISONO_PROFILE. */
extern unsigned char record_active[FUNCTIONS];

/* Set while this thread is inside a recorded call: what the library does with MPI's own functions to carry it out does
 * not count. */
extern _Thread_local bool record_inside __attribute__((tls_model("initial-exec")));

static inline bool record_enter(void)
{
    if (record_inside)
        return false;
    record_inside = true;
    return true;
}

static inline void record_leave(void)
{
    record_inside = false;
}

/* Filled in place by inlined functions: a copy of what was just stored costs a stall of some 10 ns. */
struct span {
    uint64_t start;
    uint64_t end;
    int64_t waiting; /* ticks at its beginning that went by until the last rank came; NOT_KNOWN */
};

static inline __attribute__((always_inline)) void record_begin(struct span *span)
{
    span->waiting = NOT_KNOWN;
    span->start = ticks_now();
}

/* Ticks from `start` until the last rank of an intracommunicator has come; NOT_KNOWN: it is none. A correct program may
 * not rely on a collective not to synchronise (MPI 4.1, 6.14), so this changes no result. */
int64_t record_wait(MPI_Comm comm, uint64_t start);

/* Begin a blocking collective: if asked for, wait for the others first and say how long that took. */
static inline __attribute__((always_inline)) void record_begin_together(struct span *span, MPI_Comm comm)
{
    record_begin(span);
    if (__builtin_expect(record.settings.split_waiting, false))
        span->waiting = record_wait(comm, span->start);
}

static inline __attribute__((always_inline)) void record_end(struct span *span)
{
    span->end = ticks_now();
}

/* One call of `function`, by the caller of this library. `shape` as in comm.h, NOT_KNOWN: none. The number of its cell in
 * the thread's table, TABLE_NO_CELL: it has none. */
uint32_t record_call(enum function function, int32_t shape, const struct amount *amount, const struct span *span);

/* The number of the table in which this thread's calls are counted, once there is one. */
uint32_t record_slab(void);

static inline uint32_t record_epoch(void)
{
    return __atomic_load_n(&record.epoch, __ATOMIC_RELAXED);
}

/* So many calls counted there are complete, for which so many ticks were waited (table.h). False: they are forgotten. */
bool record_complete(const struct origin *origin, uint64_t calls, uint64_t ticks);

/* A message to a rank of MPI_COMM_WORLD, NOT_KNOWN: to somewhere else. */
void record_message(int world_rank, int64_t bytes);

/* At MPI_Init, when comms has started: false if there is no memory. */
bool record_start(bool multiple);

/* Switch recording of everything that the filter leaves in. */
void record_switch(bool on);

/* Forget all calls so far. */
void record_reset(void);

/* Enter a named phase; phases nest. */
void record_phase_begin(const char *name);
void record_phase_end(void);

#endif
