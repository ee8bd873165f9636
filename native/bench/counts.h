/* The uneven lengths of allgatherv and alltoallv: a ramp from about half to about one and a half times the mean, the
   same total whatever the number of ranks, so that both can be compared with their even sisters. Pure. */
#ifndef UNISONO_COUNTS_H
#define UNISONO_COUNTS_H

#include <stdint.h>

/* Bytes of block `index` of `ranks`: mean + (2 index - (ranks - 1)) mean / (2 ranks), rounded towards the mean; blocks
   index and ranks - 1 - index add up to twice the mean. */
static inline int64_t counts_uneven(int64_t mean, int index, int ranks)
{
    return mean + (2 * (int64_t)index - (ranks - 1)) * mean / (2 * (int64_t)ranks);
}

#endif
