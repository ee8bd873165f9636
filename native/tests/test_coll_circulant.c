/* Broadcasts of blocks over a circulant graph, round by round without MPI: everybody gets every block once, from a member that had
 * it before, in as few rounds as there can be. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "group/circulant.h"

enum { SIZES = 260, BLOCKS = 40, LARGE = 100000 };

/* By place. */
static struct circulant_arrivals *arrivals_of(const struct circulant *graph)
{
    struct circulant_arrivals *arrivals = calloc((size_t)graph->size, sizeof *arrivals);
    for (int place = 1; place < graph->size; place++)
        circulant_set_arrivals(graph, place, &arrivals[place]);
    return arrivals;
}

/* In how many rounds of a turn the block ever comes. */
static int rounds_with(const struct circulant *graph, const struct circulant_arrivals *arrivals, int64_t block)
{
    int found = 0;
    for (int k = 0; k < graph->rounds; k++)
        found += circulant_turn(graph, arrivals->first[k], block) >= 0;
    return found;
}

static void play(int size, int64_t blocks)
{
    const struct circulant graph = circulant_of(size, blocks);
    struct circulant_arrivals *arrivals = arrivals_of(&graph);
    /* The round in which it came; before all rounds on the root, and after them where it has not come yet. */
    const int64_t end = graph.turns * graph.rounds;
    int64_t *came = malloc((size_t)(size * blocks) * sizeof *came);
    for (int64_t i = 0; i < size * blocks; i++)
        came[i] = i < blocks ? -1 : end;
    CHECK(graph.left_out >= 0 && graph.left_out < graph.rounds);
    CHECK(end - graph.left_out == blocks - 1 + graph.rounds && ((int64_t)1 << graph.rounds) >= size &&
          ((int64_t)1 << graph.rounds) < 2 * (int64_t)size);
    for (int64_t round = 0; round < end; round++) {
        const int k = (int)(round % graph.rounds);
        for (int place = 1; place < size; place++) {
            const int64_t block = circulant_block(&graph, arrivals[place].first[k], round / graph.rounds);
            const int from = circulant_from(&graph, place, k);
            CHECK(circulant_to(&graph, from, k) == place);
            if (block < 0)
                continue;
            CHECK(circulant_turn(&graph, arrivals[place].first[k], block) == round / graph.rounds);
            CHECK(round >= graph.left_out && block < blocks);
            CHECK(came[from * blocks + block] < round); /* not in this round either */
            CHECK(came[place * blocks + block] == end); /* nothing comes twice */
            CHECK(circulant_arrival(&graph, &arrivals[place], block) == round);
            came[place * blocks + block] = round;
        }
    }
    for (int64_t i = 0; i < size * blocks; i++)
        CHECK(came[i] < end);
    for (int place = 1; place < size; place++)
        for (int64_t block = 0; block < blocks; block++)
            CHECK(rounds_with(&graph, &arrivals[place], block) == 1);
    free(came);
    free(arrivals);
}

/* Neighbours of one place in different rounds are different members: messages of two rounds never meet. */
static void skips_differ(void)
{
    for (int size = 2; size < 5000; size++) {
        const struct circulant graph = circulant_of(size, 1);
        CHECK(graph.skip[0] == 1 && graph.skip[graph.rounds] == size);
        for (int k = 0; k < graph.rounds; k++)
            CHECK(graph.skip[k] < graph.skip[k + 1]);
    }
}

/* On as many nodes as there may be, and on as many as a number can have: whom one sends to gets what one has got. */
static void large_ones_agree(int size, int step)
{
    const struct circulant graph = circulant_of(size, 1000);
    for (int64_t place = 1; place < size; place += step) {
        struct circulant_arrivals mine, other;
        circulant_set_arrivals(&graph, (int)place, &mine);
        for (int k = 0; k < graph.rounds; k++) {
            const int to = circulant_to(&graph, (int)place, k);
            if (to == 0)
                continue;
            circulant_set_arrivals(&graph, to, &other);
            for (int64_t turn = 0; turn < 4; turn++) {
                const int64_t block = circulant_block(&graph, other.first[k], turn);
                CHECK(block < 0 || circulant_arrival(&graph, &mine, block) < turn * graph.rounds + k);
            }
        }
    }
}

int main(void)
{
    for (int size = 2; size <= SIZES; size++)
        for (int64_t blocks = 1; blocks <= BLOCKS; blocks += size < 40 ? 1 : 3)
            play(size, blocks);
    skips_differ();
    large_ones_agree(LARGE, 7);
    large_ones_agree(INT32_MAX, 1000003);
    return verdict();
}
