/* Plans in which a rank gets what those before it have: by recursive doubling, in which everybody has what twice as many have after each
 * step, the last of them itself. Where nodes' ranks follow one another it is done on each node, then by the last ranks of
 * nodes, which have what all of their node have; what comes before a node goes from its last rank to the others. Elsewhere by all ranks.
 *
 * Mine is what the ranks up to this one have; in an exscan in memory of ours, as the program's is for what comes before. Beside is what
 * has come, and behind it what comes before the node. */
#include "plan.h"

static const struct plan_place mine = {PLAN_MINE, 0}, got = {PLAN_GOT, 0}, beside = {PLAN_BESIDE, 0},
                               before = {PLAN_BESIDE, 1};

enum line_of { THE_NODE, LAST_OF_NODES, EVERYBODY };

/* Ranks one after the other. */
struct line {
    const struct topology *topology;
    enum line_of of;
    int size, place;
};

static int rank_of(const struct line *line, int place)
{
    const struct topology *topology = line->topology;
    switch (line->of) {
    case THE_NODE: return topology_rank(topology, topology->node, place);
    case LAST_OF_NODES: return topology_rank(topology, place, topology_locals(topology, place) - 1);
    default: return place;
    }
}

/* What is at the place in front of what is there. */
static void combine(struct plan *plan, struct plan_place place, struct plan_place into)
{
    struct plan_step *step = plan_add(plan, PLAN_COMBINE_LEFT, -1);
    step->place = place;
    step->to = into;
}

/* `keeps`: what comes before this place is there by itself, too, in the end, unless it is the first. */
static void doubling(struct plan *plan, const struct line *line, bool keeps)
{
    for (int distance = 1; distance < line->size; distance *= 2) {
        const bool gives = line->place + distance < line->size, takes = line->place >= distance;
        if (gives)
            plan_message(plan, PLAN_SEND, rank_of(line, line->place + distance), mine, 1);
        if (takes)
            plan_message(plan, PLAN_RECEIVE, rank_of(line, line->place - distance), beside, 1);
        plan_wait(plan);
        if (takes)
            combine(plan, beside, mine);
        if (takes && keeps && distance == 1)
            plan_copy(plan, beside, before, 1);
        else if (takes && keeps)
            combine(plan, beside, before);
    }
}

/* What those up to the one before have. */
static void shift(struct plan *plan, const struct line *line)
{
    if (line->place + 1 < line->size)
        plan_message(plan, PLAN_SEND, rank_of(line, line->place + 1), mine, 1);
    if (line->place > 0)
        plan_message(plan, PLAN_RECEIVE, rank_of(line, line->place - 1), got, 1);
    plan_wait(plan);
}

/* What comes before this node to all of its ranks, of which the last has it, and in front of what they have. */
static void put_before(struct plan *plan, const struct topology *topology, bool is_exclusive)
{
    const bool is_last = topology->local == topology->locals - 1;
    const struct plan_place it = is_last ? before : beside;
    plan_down_node(plan, topology, topology->locals - 1, it, 1);
    if (is_exclusive && topology->local == 0)
        plan_copy(plan, it, got, 1);
    else if (is_exclusive || !is_last) /* the last has put it together with its own */
        combine(plan, it, is_exclusive ? got : mine);
}

struct plan plan_scan(const struct topology *topology, bool is_exclusive)
{
    const struct line node = {topology, THE_NODE, topology->locals, topology->local},
                      nodes = {topology, LAST_OF_NODES, topology->nodes, topology->node},
                      all = {topology, EVERYBODY, topology->ranks, topology->rank};
    const bool is_last = topology->in_order && topology->local == topology->locals - 1;
    struct plan plan = {.mine = is_exclusive, .beside = is_last ? 2 : 1};
    plan_copy(&plan, (struct plan_place){PLAN_GIVEN, 0}, mine, 1);
    doubling(&plan, topology->in_order ? &node : &all, false);
    if (is_exclusive)
        shift(&plan, topology->in_order ? &node : &all);
    if (!topology->in_order)
        return plan;
    if (is_last)
        doubling(&plan, &nodes, is_exclusive || topology->locals > 1);
    if (topology->node > 0)
        put_before(&plan, topology, is_exclusive);
    return plan;
}
