#include "plan.h"

#include <string.h>

#include "../group/schedule.h"
#include "../reserve.h"

enum { NODE_RADIX = 2, NODES_RADIX = 4 };

/* Some ranks in a circle, of which the one at place 0 has, or gets, everything. */
struct circle {
    const struct topology *topology;
    bool is_node; /* the ranks of this node; else one rank of each */
    int first;    /* the place on the node, or the node, that is place 0 */
    int root;     /* who takes part for its own node; -1: the first, as on the others */
    int size, place;
};

static int rank_at(const struct circle *circle, int place)
{
    const struct topology *topology = circle->topology;
    const int at = (circle->first + place) % circle->size;
    if (circle->is_node)
        return topology_rank(topology, topology->node, at);
    return circle->root >= 0 && topology->node_of[circle->root] == at ? circle->root : topology_rank(topology, at, 0);
}

struct plan_step *plan_add(struct plan *plan, enum plan_kind kind, int peer)
{
    enum { LEAST = 16 };
    if (plan->count == plan->room) {
        struct plan_step *more = reserve_get(((size_t)plan->room + LEAST) * 2 * sizeof *more);
        if (plan->count > 0)
            memcpy(more, plan->step, (size_t)plan->count * sizeof *more);
        reserve_put(plan->step);
        plan->step = more;
        plan->room = 2 * (plan->room + LEAST);
    }
    struct plan_step *step = &plan->step[plan->count++];
    *step = (struct plan_step){.kind = kind, .peer = peer, .blocks = 1};
    if (kind == PLAN_TAKE)
        step->place.where = PLAN_BESIDE;
    return step;
}

/* Beside mine: it is combined, or, in a barrier, it only says that the peer has come. */
static void take(struct plan *plan, const struct circle *circle, int from)
{
    plan_add(plan, PLAN_TAKE, rank_at(circle, from));
}

static void combine(struct plan *plan, bool comes_first)
{
    plan_add(plan, PLAN_WAIT, -1);
    plan_add(plan, comes_first ? PLAN_COMBINE_LEFT : PLAN_COMBINE_RIGHT, -1);
    plan->combines = true;
}

/* Everything to place 0. */
static void go_up(struct plan *plan, const struct circle *circle)
{
    for (int step = 1; step < circle->size; step *= 2) {
        if (circle->place & step) {
            plan_add(plan, PLAN_SEND, rank_at(circle, circle->place - step));
            plan_add(plan, PLAN_WAIT, -1);
            return;
        }
        if (circle->place + step < circle->size) {
            take(plan, circle, circle->place + step);
            combine(plan, false);
        }
    }
}

/* So many blocks of mine from place 0 to everybody; the largest subtrees first. */
static void go_down(struct plan *plan, const struct circle *circle, int radix, int blocks)
{
    int step = tree_step(circle->size, circle->place, radix);
    if (circle->place > 0) {
        plan_add(plan, PLAN_RECEIVE, rank_at(circle, tree_parent(circle->place, step, radix)))->blocks = blocks;
        plan_add(plan, PLAN_WAIT, -1);
    }
    for (step /= radix; step > 0; step /= radix)
        for (int i = 1; i < radix && circle->place + i * step < circle->size; i++)
            plan_add(plan, PLAN_SEND, rank_at(circle, circle->place + i * step))->blocks = blocks;
    plan_add(plan, PLAN_WAIT, -1);
}

/* Recursive doubling. */
static void go_across(struct plan *plan, const struct circle *circle)
{
    const struct folding folding = fold(circle->size, circle->place);
    if (folding.partner >= 0 && folding.number < 0) {
        plan_add(plan, PLAN_SEND, rank_at(circle, folding.partner));
        plan_add(plan, PLAN_WAIT, -1);
        plan_add(plan, PLAN_RECEIVE, rank_at(circle, folding.partner));
        plan_add(plan, PLAN_WAIT, -1);
        return;
    }
    if (folding.partner >= 0) {
        take(plan, circle, folding.partner);
        combine(plan, false);
    }
    for (int bit = 1; bit < folding.power; bit *= 2) {
        const int other = unfold(circle->size, folding.number ^ bit);
        plan_add(plan, PLAN_SEND, rank_at(circle, other));
        take(plan, circle, other);
        combine(plan, other < circle->place);
    }
    if (folding.partner >= 0) {
        plan_add(plan, PLAN_SEND, rank_at(circle, folding.partner));
        plan_add(plan, PLAN_WAIT, -1);
    }
}

/* Everybody hears of everybody: dissemination. */
static void go_around(struct plan *plan, const struct circle *circle)
{
    for (int step = 1; step < circle->size; step *= 2) {
        plan_add(plan, PLAN_SEND, rank_at(circle, (circle->place + step) % circle->size));
        take(plan, circle, (circle->place - step + circle->size) % circle->size);
        plan_add(plan, PLAN_WAIT, -1);
    }
}

static int most_messages(const struct plan *plan)
{
    int most = 0, now = 0;
    for (int i = 0; i < plan->count; i++) {
        now = plan->step[i].kind == PLAN_WAIT ? 0 : now + (plan->step[i].peer >= 0);
        most = now > most ? now : most;
    }
    return most;
}

bool plan_is_there(enum collective collective)
{
    return collective == COLL_IBARRIER || collective == COLL_IBCAST || collective == COLL_IREDUCE ||
           collective == COLL_IALLREDUCE || plan_is_of_blocks(collective);
}

bool plan_is_of_blocks(enum collective collective)
{
    return collective == COLL_IALLGATHER || collective == COLL_IALLTOALL || collective == COLL_IGATHER ||
           collective == COLL_ISCATTER;
}

/* The ranks of this node, the one at `first` before all others. */
static struct circle circle_of_node(const struct topology *topology, int first)
{
    return (struct circle){.topology = topology,
                           .is_node = true,
                           .first = first,
                           .root = -1,
                           .size = topology->locals,
                           .place = (topology->local - first + topology->locals) % topology->locals};
}

void plan_down_node(struct plan *plan, const struct topology *topology, int blocks)
{
    const struct circle node = circle_of_node(topology, 0);
    go_down(plan, &node, NODE_RADIX, blocks);
}

/* Of those in which a rank has a vector. */
static struct plan plan_vectors(const struct topology *topology, enum collective collective, int root)
{
    const bool is_rooted = collective == COLL_IBCAST || collective == COLL_IREDUCE;
    const int home = is_rooted ? topology->node_of[root] : 0;
    const struct circle node =
        circle_of_node(topology, is_rooted && home == topology->node ? topology->local_of[root] : 0);
    const struct circle nodes = {.topology = topology,
                                 .first = home,
                                 .root = is_rooted ? root : -1,
                                 .size = topology->nodes,
                                 .place = (topology->node - home + topology->nodes) % topology->nodes};
    struct plan plan = {0};
    if (collective != COLL_IBCAST)
        go_up(&plan, &node);
    if (node.place == 0 && collective == COLL_IBCAST)
        go_down(&plan, &nodes, NODES_RADIX, 1);
    else if (node.place == 0 && collective == COLL_IREDUCE)
        go_up(&plan, &nodes);
    else if (node.place == 0 && collective == COLL_IALLREDUCE)
        go_across(&plan, &nodes);
    else if (node.place == 0)
        go_around(&plan, &nodes);
    if (collective != COLL_IREDUCE)
        go_down(&plan, &node, NODE_RADIX, 1);
    return plan;
}

struct plan plan_make(const struct topology *topology, enum collective collective, int root)
{
    struct plan plan = collective == COLL_IALLGATHER  ? plan_allgather(topology)
                       : collective == COLL_IALLTOALL ? plan_alltoall(topology)
                       : collective == COLL_IGATHER   ? plan_gather(topology, root)
                       : collective == COLL_ISCATTER  ? plan_scatter(topology, root)
                                                      : plan_vectors(topology, collective, root);
    plan.most = most_messages(&plan);
    return plan;
}

void plan_free(struct plan *plan)
{
    reserve_put(plan->step);
    *plan = (struct plan){0};
}
