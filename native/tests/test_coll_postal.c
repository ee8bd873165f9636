/* Trees of the postal model: who sends to whom and when, played through without MPI. */
#include "check.h"
#include "group/postal.h"

enum { MOST = 600 };

/* Everybody sends as soon as it has the message: what its stretch says, in that order. The other way round, with the last
   children first, it combines the stretches in the order of their places. */
static void play(const struct postal *postal)
{
    int heard[MOST], parent[MOST], members[MOST], begun = 1;
    heard[0] = 0, parent[0] = -1, members[0] = postal->size;
    for (int place = 1; place < postal->size; place++)
        parent[place] = -2;
    for (int place = 0; place < postal->size; place++) { /* parents come before their children */
        struct postal_place at = postal_place(postal, place);
        CHECK(parent[place] != -2 && at.parent == parent[place] && at.members == members[place]);
        int left = members[place], children = 0, beyond = place + left;
        for (int given; (given = postal_given(postal, left)) > 0 && parent[place] != -2; left -= given) {
            int child = place + left - given;
            CHECK(child + given == beyond);
            beyond = child;
            CHECK(given < left && child < postal->size && parent[child] == -2);
            parent[child] = place, members[child] = given, begun++;
            heard[child] = heard[place] + children + postal->latency;
            CHECK(heard[child] <= postal->steps);
            children++;
        }
        CHECK(left == 1 && beyond == place + 1 && children == postal_children(postal, members[place]));
    }
    CHECK(begun == postal->size);
}

static void everybody_hears_once_and_in_time(void)
{
    for (int latency = 1; latency <= POSTAL_MOST; latency++)
        for (int size = 1; size <= MOST; size += 1 + size / 40) {
            struct postal postal;
            postal_set(&postal, size, latency);
            play(&postal);
        }
}

/* How many can have heard after so many steps, whatever the tree: those who had a step before, and whoever is sent to by those
   who had it `latency` steps before. */
static int64_t reached(int steps, int latency)
{
    return steps < latency ? 1 : reached(steps - 1, latency) + reached(steps - latency, latency);
}

static void nothing_ends_sooner(void)
{
    for (int latency = 1; latency <= 9; latency++)
        for (int size = 2; size <= 300; size++) {
            struct postal postal;
            postal_set(&postal, size, latency);
            CHECK(reached(postal.steps, latency) >= size && reached(postal.steps - 1, latency) < size);
        }
}

/* One message at a time makes the binomial tree, many under way a flat one. */
static void known_trees(void)
{
    struct postal postal;
    postal_set(&postal, 64, 1);
    CHECK(postal.steps == 6 && postal_children(&postal, 64) == 6 && postal_given(&postal, 64) == 32);
    postal_set(&postal, 8, POSTAL_MOST + 5);
    CHECK(postal.latency == POSTAL_MOST && postal_children(&postal, 8) == 7);
    postal_set(&postal, 8, 0);
    CHECK(postal.latency == 1 && postal.steps == 3);
    postal_set(&postal, 1, 3);
    CHECK(postal.steps == 0 && postal_given(&postal, 1) == 0 && postal_place(&postal, 0).parent == -1);
}

/* As many members as there are numbers. */
static void the_table_is_long_enough(void)
{
    for (int latency = 1; latency <= POSTAL_MOST; latency++) {
        struct postal postal;
        postal_set(&postal, INT32_MAX, latency);
        CHECK(postal.steps <= POSTAL_STEPS && postal.reach[postal.steps] == INT32_MAX);
        struct postal_place last = postal_place(&postal, INT32_MAX - 1);
        CHECK(last.members == 1 && last.parent >= 0 && last.parent < INT32_MAX - 1);
        CHECK(postal_children(&postal, INT32_MAX) <= postal.steps);
    }
}

int main(void)
{
    everybody_hears_once_and_in_time();
    nothing_ends_sooner();
    known_trees();
    the_table_is_long_enough();
    return verdict();
}
