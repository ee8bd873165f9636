/* Who sends what to whom: pure functions, tested without MPI (tests/test_coll_schedules.c). */
#ifndef UNISONO_GROUP_SCHEDULE_H
#define UNISONO_GROUP_SCHEDULE_H

#include <stdint.h>

/* The largest power of two that is not above `size`. */
static inline int power_below(int size)
{
    int power = 1;
    while (power <= size / 2)
        power *= 2;
    return power;
}

/* Making a power of two out of any number of members: of the first 2 * (size - power), every odd one gives what it has to
   the one before it and takes no part until the end. */
struct folding {
    int power;   /* how many take part */
    int number;  /* this one's number among them; -1: it takes no part */
    int partner; /* whom it gives to or takes from; -1: nobody */
};

static inline struct folding fold(int size, int member)
{
    struct folding folding = {power_below(size), 0, -1};
    int extra = size - folding.power;
    if (member >= 2 * extra) {
        folding.number = member - extra;
    } else {
        folding.number = member % 2 == 0 ? member / 2 : -1;
        folding.partner = member ^ 1;
    }
    return folding;
}

/* The member with this number among those that take part. */
static inline int unfold(int size, int number)
{
    int extra = size - power_below(size);
    return number < extra ? 2 * number : number + extra;
}

#endif
