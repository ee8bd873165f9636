/* Data of reductions and their exact results. The value of a rank at a position is a pseudo-random whole number small
   enough that the sum over all ranks is exact in single precision in any order; the result is looked up, not
   recomputed, so that checking costs no more than reading. Pure. */
#ifndef UNISONO_REDUCTION_H
#define UNISONO_REDUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REDUCTION_TABLE = 4096 };

/* Elements are floats that are added, or bytes of which the exclusive or is taken. */
struct reduction {
    int ranks, of;
    bool floats;
    uint32_t mask;
    uint32_t expected[REDUCTION_TABLE];
};

void reduction_prepare(struct reduction *reduction, int ranks, bool floats);
/* The same where the result is that of the first `of` ranks alone. */
void reduction_prepare_first(struct reduction *reduction, int ranks, int of, bool floats);

/* Contribution of a rank to elements first .. first + count. */
void reduction_fill(const struct reduction *reduction, void *send, size_t first, size_t count, int rank,
                    uint64_t repetition);

/* Index from 0 of the first element that is not the result; `count` when all are right. */
size_t reduction_first_wrong(const struct reduction *reduction, const void *result, size_t first, size_t count,
                             uint64_t repetition);
uint32_t reduction_expected(const struct reduction *reduction, size_t position, uint64_t repetition);

#endif
