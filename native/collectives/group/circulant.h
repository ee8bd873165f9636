/* Who gets which block from whom, of a broadcast of n blocks in rounds over a circulant graph: everybody has all of them after
 * n - 1 + ceil(log2 size) rounds, which is the least possible, for any number of members. In round k of each turn of
 * ceil(log2 size) rounds, every place sends to the one skip[k] further on, and gets from the one skip[k] before it.
 * J. L. Traff: Optimal broadcast schedules in logarithmic time with applications to broadcast, all-broadcast, reduction and
 * all-reduction (2024). A place computes its own blocks alone, from O(log size) numbers.
 * Pure functions, tested without MPI (tests/test_coll_circulant.c). */
#ifndef UNISONO_GROUP_CIRCULANT_H
#define UNISONO_GROUP_CIRCULANT_H

#include <stdbool.h>
#include <stdint.h>

#define CIRCULANT_REFERENCE                                                                                            \
    "Traff: Optimal broadcast schedules in logarithmic time with applications to broadcast, all-broadcast, "           \
    "reduction and all-reduction (2024)"

enum { CIRCULANT_MOST = 31 }; /* rounds of a turn, of any number of members that an int can have */

struct circulant {
    int size, rounds; /* rounds of a turn */
    int64_t blocks;   /* to be sent to everybody */
    int64_t turns,
        left_out; /* all turns, of which so many rounds are left out at the start: the last one ends a turn */
    int skip[CIRCULANT_MOST + 1]; /* the last one is `size`, and each half of the next, rounded up */
};

/* Of 2 members at least. */
static inline struct circulant circulant_of(int size, int64_t blocks)
{
    struct circulant graph = {.size = size, .blocks = blocks};
    while (((int64_t)1 << graph.rounds) < size)
        graph.rounds++;
    graph.skip[graph.rounds] = size;
    for (int k = graph.rounds; k > 0; k--)
        graph.skip[k - 1] = graph.skip[k] - graph.skip[k] / 2;
    const int64_t needed = blocks - 1 + graph.rounds;
    graph.turns = (needed + graph.rounds - 1) / graph.rounds;
    graph.left_out = graph.turns * graph.rounds - needed;
    return graph;
}

static inline int circulant_to(const struct circulant *graph, int place, int k)
{
    const int before = graph->size - graph->skip[k];
    return place < before ? place + graph->skip[k] : place - before;
}

static inline int circulant_from(const struct circulant *graph, int place, int k)
{
    return place < graph->skip[k] ? place + (graph->size - graph->skip[k]) : place - graph->skip[k];
}

/* The block of the first turn, which comes to a place directly: the smallest skip of its distance from the root as a sum of
   skips, the largest possible ones first. Of the root itself: `rounds`. */
static inline int circulant_first(const struct circulant *graph, int place)
{
    for (int k = graph->rounds - 1; k >= 0 && place > 0; k--) {
        if (graph->skip[k] == place)
            return k;
        if (graph->skip[k] < place)
            place -= graph->skip[k];
    }
    return graph->rounds;
}

/* A search for the blocks of all rounds, from the last round's sender back, as in the paper's section on receive schedules. */
struct circulant_search {
    const struct circulant *graph;
    int64_t goal, last;
    bool used[CIRCULANT_MOST + 1];
    signed char *block;
    int found;
};

static inline void circulant_walk(struct circulant_search *search, int64_t at, int most)
{
    const int rounds = search->graph->rounds, *skip = search->graph->skip;
    for (int step = most; step >= 0 && search->found < rounds; step--) {
        const int64_t next = at + skip[step];
        if (search->used[step] || next > search->goal - skip[search->found] || next >= search->last)
            continue;
        if (next <= search->goal - skip[search->found + 1])
            circulant_walk(search, next, step);
        if (search->found == rounds || at > search->goal - skip[search->found + 1])
            return;
        if (search->used[step] || next > search->goal - skip[search->found] || next >= search->last)
            continue;
        search->last = next;
        search->used[step] = true;
        search->block[search->found++] = (signed char)step;
    }
}

/* By round: the block that a place, other than the root, gets in the first turn; the same and `rounds` more in each later one.
   Negative: none in the first turn. All of them differ by other than a multiple of `rounds`. */
static inline void circulant_blocks(const struct circulant *graph, int place, signed char *block)
{
    struct circulant_search search = {
        .graph = graph, .goal = (int64_t)graph->size + place, .last = 2 * (int64_t)graph->size, .block = block};
    const int first = circulant_first(graph, place);
    search.used[first] = true;
    circulant_walk(&search, 0, graph->rounds);
    for (int k = 0; k < graph->rounds; k++)
        block[k] = (signed char)(block[k] == graph->rounds ? first : block[k] - graph->rounds);
}

/* The block of this turn, where `first` is that of the first turn, before any round is left out. -1: none. What would come after
   the last block is that one once more, and that it would be comes to a place only once. */
static inline int64_t circulant_block(const struct circulant *graph, int first, int64_t turn)
{
    const int64_t block = first + turn * graph->rounds - graph->left_out;
    return block < 0 ? -1 : block < graph->blocks ? block : graph->blocks - 1;
}

/* The turn in which a block comes in the round that `first` is of; -1: it never comes in this one. */
static inline int64_t circulant_turn(const struct circulant *graph, int first, int64_t block)
{
    if (block == graph->blocks - 1)
        return first < 0 ? -1 : graph->turns - 1;
    const int64_t later = block + graph->left_out - first;
    return later % graph->rounds == 0 ? later / graph->rounds : -1;
}

/* In which round of which turn a block comes: the other way round. */
struct circulant_arrivals {
    signed char round[CIRCULANT_MOST]; /* by block modulo `rounds` */
    signed char last;                  /* of the last block, in the last turn */
    signed char first[CIRCULANT_MOST];
};

static inline void circulant_set_arrivals(const struct circulant *graph, int place, struct circulant_arrivals *arrivals)
{
    circulant_blocks(graph, place, arrivals->first);
    for (int k = 0; k < graph->rounds; k++) {
        const int64_t block = arrivals->first[k] + 2 * graph->rounds - graph->left_out;
        arrivals->round[block % graph->rounds] = (signed char)k;
        if (arrivals->first[k] >= 0)
            arrivals->last = (signed char)k;
    }
}

/* Rounds are numbered over all turns. */
static inline int64_t circulant_arrival(const struct circulant *graph, const struct circulant_arrivals *arrivals,
                                        int64_t block)
{
    if (block == graph->blocks - 1)
        return (graph->turns - 1) * graph->rounds + arrivals->last;
    const int k = arrivals->round[block % graph->rounds];
    return block + graph->left_out - arrivals->first[k] + k; /* whole turns, and k rounds of one */
}

#endif
