/* Trees in which who has a message goes on sending it while the first ones are under way: pure functions, tested without MPI
 * (tests/test_coll_postal.c). A. Bar-Noy and S. Kipnis, Designing broadcasting algorithms in the postal model for
 * message-passing systems (1992); no tree over so many members ends sooner in that model.
 *
 * Time counts in steps, in each of which a member begins one message; it is there `latency` steps after its begin. A member is
 * the root of a stretch of places, of which it is the first. It gives the last ones to the member that it sends to first,
 * and goes on with the rest. So the places of a subtree follow one another, and the largest subtrees are the farthest. */
#ifndef UNISONO_GROUP_POSTAL_H
#define UNISONO_GROUP_POSTAL_H

#include <stdint.h>

/* Of latency: more under way at once wait for nothing but one another, on any machine. With it, 2^31 members are reached in so
   many steps, since their number doubles in `latency` of them. */
enum { POSTAL_MOST = 20, POSTAL_STEPS = 31 * POSTAL_MOST };

struct postal {
    int size, latency;
    int steps;                   /* until all have it */
    int reach[POSTAL_STEPS + 1]; /* how many have it after so many steps, at the most */
};

static inline void postal_set(struct postal *postal, int size, int latency)
{
    postal->size = size;
    postal->latency = latency < 1 ? 1 : latency > POSTAL_MOST ? POSTAL_MOST : latency;
    postal->steps = 0;
    postal->reach[0] = 1;
    for (int step = 1; postal->reach[postal->steps] < size; step++) {
        int64_t reach = postal->reach[step - 1];
        if (step >= postal->latency)
            reach += postal->reach[step - postal->latency];
        postal->reach[step] = reach < size ? (int)reach : size;
        postal->steps = step;
    }
}

/* Of so many members, the first of which is free to send: how many it gives away with its next message; 0: it is alone. Some
   number of them would be in time by a step or more; this one leaves as many to spare on either side, since no message takes as
   long as the next. */
static inline int postal_given(const struct postal *postal, int members)
{
    int step = postal->steps;
    if (members < 2)
        return 0;
    while (postal->reach[step - 1] >= members)
        step--;
    const int least = members - postal->reach[step - 1], reach = postal->reach[step - postal->latency];
    const int most = reach < members ? reach : members - 1;
    return least + (most - least) / 2;
}

/* The stretch that a place is the first of, and who sends to it; -1: nobody. */
struct postal_place {
    int parent, members;
};

static inline struct postal_place postal_place(const struct postal *postal, int place)
{
    struct postal_place at = {-1, postal->size};
    for (int first = 0; first != place;) {
        int given = postal_given(postal, at.members);
        if (place < first + at.members - given) {
            at.members -= given;
            continue;
        }
        at.parent = first;
        first += at.members - given;
        at.members = given;
    }
    return at;
}

/* Members that one of so many sends to. */
static inline int postal_children(const struct postal *postal, int members)
{
    int children = 0;
    for (int given; (given = postal_given(postal, members)) > 0; members -= given)
        children++;
    return children;
}

#endif
