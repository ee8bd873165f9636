/* What our algorithms really take on this machine, against what their cost models say.
 *
 * The models count copies and waits; how long these take depends on caches and on what connects them, and no constant
 * holds on two kinds of CPU. So where the ranks of MPI_COMM_WORLD are on one node and have a CPU each, every algorithm that
 * may be the quickest is run a few times at the start, at several message sizes, for at most 0.12 s. The next runs read
 * what was found from a file (trial_file.h). As other processes and the host only ever add time, further starts try, those things first
 * for which no start had the time, until TRIAL_STARTS of them, the first included, have come to things that had been tried; of each time
 * the least counts. Of alltoallw, neighbourhoods, gather(v), scatter(v), reduce_scatter(_block), scan, exscan and nonblocking collectives the MPI
 * library's own is tried, too, and they are ours only where it was slower. Where what is received goes past the caches
 * (trial_streams.h) is tried by the first start alone. On communicators of one node a model's time is
 * multiplied by it. Over several nodes, and where ranks share CPUs, the models speak alone. */
#ifndef UNISONO_TRIAL_H
#define UNISONO_TRIAL_H

#include "collectives.h"

enum { TRIAL_SIZES = 8, TRIAL_ALGORITHMS = 320, TRIAL_STARTS = 3 };

/* 0: not known. */
struct trial {
    int32_t starts;     /* the first, and those that tried anything again */
    int32_t streams;    /* enum trial_streams */
    struct costs costs; /* as the first of them measured them; the models' times are by these */
    /* Seconds of the quickest of ours, and of the MPI library's own where that is tried. */
    float ours[TRIAL_SIZES][COLLECTIVES_AT_ONCE], mpis[TRIAL_SIZES][COLLECTIVES_AT_ONCE];
    /* By size and by number in the table: the time it takes over that of its model. The last COLLECTIVES_AT_ONCE places are the MPI
     * library's own: its time over that of the quickest of ours. */
    float factor[TRIAL_SIZES][TRIAL_ALGORITHMS];
};

/* Collective over the ranks of `world`, whose costs are measured; they become those of the first start. What is found is the
 * same on all of them; false, on all too: one could not do its part, and nothing goes on `world` any more. */
bool trial_start(struct coll_comm *world);
/* What to multiply the cost of algorithm_at(index) by. */
double trial_factor(const struct coll_comm *comm, int index, int64_t bytes);
/* Whether ours serve this without a rule: of collectives that are tried against the MPI library's own, only where that is
 * known to take longer. */
bool trial_prefers_ours(const struct coll_comm *comm, enum collective collective, int64_t bytes);

#endif
