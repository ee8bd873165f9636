/* Everything a rank keeps between commands. */
#ifndef UNISONO_BENCH_H
#define UNISONO_BENCH_H

#include "arena.h"
#include "arrival.h"
#include "command.h"
#include "cpus.h"
#include "fault.h"
#include "flags.h"
#include "input.h"
#include "settings.h"
#include "sweep.h"
#include "team.h"
#include "text.h"

/* Flags for `state`, made at the first. */
struct probe {
    bool made;
    struct segment segment;
    struct flags flags;
};

struct bench {
    struct team team;
    struct arena arena;
    struct sweep sweep;     /* nothing is mapped before it is asked for */
    struct arrival arrival; /* of the current measure */
    bool sweeps;            /* likewise: the caches are emptied before every repetition */
    struct settings settings;
    struct fault fault;
    struct input input; /* rank 0 */
    struct text answer;
    struct probe probe;
    struct cpus cpus;    /* this rank may use */
    bool oversubscribed; /* somewhere more ranks than CPUs: no agreed start times */
    int64_t cache_share; /* bytes of last-level cache per rank that uses it */
    uint64_t repetition; /* never the same data twice */
};

#endif
