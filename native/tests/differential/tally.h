/* How many of each kind were drawn; each thread counts by itself. */
#ifndef UNISONO_TEST_TALLY_H
#define UNISONO_TEST_TALLY_H

enum drawn {
    DRAWN_CALLS,
    DRAWN_BY_OURS,
    DRAWN_LARGE,
    DRAWN_LATER,
    DRAWN_PERSISTENT,
    DRAWN_IN_PLACE,
    DRAWN_OWN_OPERATIONS,
    DRAWN_QUAD,
    DRAWN_VECTORS,
    DRAWN_MISALIGNED,
    DRAWN_RETURNING,
    DRAWN_ERRORS,
    DRAWN_MADE,
    DRAWN_SHORT_LIVED,
    DRAWN_THREADED,
    DRAWN_AGAIN,
    DRAWN_SAME_HANDLE,
    DRAWN_SEVERAL_COUNTS,
    DRAWN_STARTED_AGAIN,
    DRAWN_IN_FLIGHT,
    DRAWN_SOME_IN_PLACE,
    DRAWN_FROM_BOTTOM,
    DRAWN_BETWEEN_GROUPS,
    DRAWN_BESIDE,
    DRAWN
};

struct tally {
    unsigned long long of[DRAWN];
};

extern const char *const tally_names[DRAWN];

void tally_add(struct tally *to, const struct tally *from);
/* "drawn: 600 calls, 12 quad sums ...", a line. */
void tally_print(const struct tally *tally);

#endif
