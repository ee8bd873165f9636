/* What flags in shared memory can do between the cores of a node: the least any exchange through MPI can take. */
#ifndef UNISONO_FLAGS_H
#define UNISONO_FLAGS_H

#include <stdatomic.h>
#include <stdint.h>

#include "segment.h"

enum { FLAG_ROUNDS = 16 };

/* Of one rank; every line has one writer. Timestamps of the current step are for whoever evaluates it. */
struct flag_rank {
    _Alignas(SEGMENT_PAGE) _Atomic uint64_t own; /* written by this rank, read by all */
    _Alignas(LINE) _Atomic uint64_t ping;        /* written by this rank, read by its partner */
    struct {
        _Alignas(LINE) _Atomic uint64_t value; /* written by the partner of that round */
    } round[FLAG_ROUNDS];
    _Alignas(LINE) int64_t begin, end;
    int64_t finished; /* of rank 0: so many measurements of several runs are over */
};

struct flags {
    bool hurries; /* waiting never pauses */
    struct flag_rank **ranks;
    int rank, count;
    uint64_t sequence, pings;
};

/* Everybody hears of everybody, in ceil(log2 ranks) rounds (dissemination: Hensgen, Finkel, Manber, 1988). */
void flags_disseminate(struct flags *flags);

/* Everybody reads everybody's flag. */
void flags_read_all(struct flags *flags);

/* One-way ns between the cores of two ranks, the shortest average of several runs; collective, 0 on the others. */
double flags_latency(struct flags *flags, int a, int b);

/* ns of the quicker way for all ranks to hear of all, in the shortest of so many runs of a hundred, in turn of either way with
 * pauses and without; collective. */
double flags_exchange(struct flags *flags, int runs);

#endif
