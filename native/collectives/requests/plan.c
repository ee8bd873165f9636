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
    if (kind == PLAN_TAKE || kind == PLAN_COMBINE_LEFT || kind == PLAN_COMBINE_RIGHT)
        step->place.where = PLAN_BESIDE;
    plan->combines = plan->combines || kind == PLAN_COMBINE_LEFT || kind == PLAN_COMBINE_RIGHT;
    return step;
}

void plan_message(struct plan *plan, enum plan_kind kind, int peer, struct plan_place place, int blocks)
{
    struct plan_step *step = plan_add(plan, kind, peer);
    step->place = place;
    step->blocks = blocks;
}

void plan_wait(struct plan *plan)
{
    plan_add(plan, PLAN_WAIT, -1);
}

void plan_combine_blocks(struct plan *plan, int at, int blocks)
{
    struct plan_step *step = plan_add(plan, PLAN_COMBINE_RIGHT, -1);
    step->place.at = step->to.at = at;
    step->blocks = blocks;
}

struct plan_step *plan_copy(struct plan *plan, struct plan_place from, struct plan_place to, int blocks)
{
    struct plan_step *step = plan_add(plan, PLAN_COPY, -1);
    step->place = from;
    step->to = to;
    step->rows = 1;
    step->blocks = blocks;
    return step;
}

/* Beside mine: it is combined, or, in a barrier, it only says that the peer has come. */
static void take(struct plan *plan, const struct circle *circle, int from)
{
    plan_add(plan, PLAN_TAKE, rank_at(circle, from));
}

static void combine(struct plan *plan, bool comes_first)
{
    plan_wait(plan);
    plan_add(plan, comes_first ? PLAN_COMBINE_LEFT : PLAN_COMBINE_RIGHT, -1);
}

/* Everything to place 0. */
static void go_up(struct plan *plan, const struct circle *circle)
{
    for (int step = 1; step < circle->size; step *= 2) {
        if (circle->place & step) {
            plan_add(plan, PLAN_SEND, rank_at(circle, circle->place - step));
            plan_wait(plan);
            return;
        }
        if (circle->place + step < circle->size) {
            take(plan, circle, circle->place + step);
            combine(plan, false);
        }
    }
}

/* So many blocks from place 0 to everybody; the largest subtrees first. */
static void go_down(struct plan *plan, const struct circle *circle, int radix, struct plan_place place, int blocks)
{
    int step = tree_step(circle->size, circle->place, radix);
    if (circle->place > 0) {
        plan_message(plan, PLAN_RECEIVE, rank_at(circle, tree_parent(circle->place, step, radix)), place, blocks);
        plan_wait(plan);
    }
    for (step /= radix; step > 0; step /= radix)
        for (int i = 1; i < radix && circle->place + i * step < circle->size; i++)
            plan_message(plan, PLAN_SEND, rank_at(circle, circle->place + i * step), place, blocks);
    plan_wait(plan);
}

/* Recursive doubling. */
static void go_across(struct plan *plan, const struct circle *circle)
{
    const struct folding folding = fold(circle->size, circle->place);
    if (folding.partner >= 0 && folding.number < 0) {
        plan_add(plan, PLAN_SEND, rank_at(circle, folding.partner));
        plan_wait(plan);
        plan_add(plan, PLAN_RECEIVE, rank_at(circle, folding.partner));
        plan_wait(plan);
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
        plan_wait(plan);
    }
}

/* Everybody hears of everybody: dissemination. */
static void go_around(struct plan *plan, const struct circle *circle)
{
    for (int step = 1; step < circle->size; step *= 2) {
        plan_add(plan, PLAN_SEND, rank_at(circle, (circle->place + step) % circle->size));
        take(plan, circle, (circle->place - step + circle->size) % circle->size);
        plan_wait(plan);
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
           collective == COLL_IALLREDUCE || plan_lays_out(collective);
}

bool plan_lays_out(enum collective collective)
{
    return collective == COLL_IALLGATHER || collective == COLL_IALLGATHERV || collective == COLL_IALLTOALL ||
           collective == COLL_IEXSCAN || collective == COLL_IGATHER || collective == COLL_IREDUCE_SCATTER ||
           collective == COLL_IREDUCE_SCATTER_BLOCK || collective == COLL_ISCAN || collective == COLL_ISCATTER;
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

void plan_down_node(struct plan *plan, const struct topology *topology, int from, struct plan_place place, int blocks)
{
    const struct circle node = circle_of_node(topology, from);
    go_down(plan, &node, NODE_RADIX, place, blocks);
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
    const struct plan_place mine = {PLAN_MINE, 0};
    struct plan plan = {0};
    if (collective != COLL_IBCAST)
        go_up(&plan, &node);
    if (node.place == 0 && collective == COLL_IBCAST)
        go_down(&plan, &nodes, NODES_RADIX, mine, 1);
    else if (node.place == 0 && collective == COLL_IREDUCE)
        go_up(&plan, &nodes);
    else if (node.place == 0 && collective == COLL_IALLREDUCE)
        go_across(&plan, &nodes);
    else if (node.place == 0)
        go_around(&plan, &nodes);
    if (collective != COLL_IREDUCE)
        go_down(&plan, &node, NODE_RADIX, mine, 1);
    return plan;
}

struct plan plan_make(const struct topology *topology, enum collective collective, int root)
{
    struct plan plan;
    switch (collective) {
    case COLL_IALLGATHER: plan = plan_allgather(topology, topology->in_order); break;
    case COLL_IALLGATHERV: plan = plan_allgather(topology, false); break;
    case COLL_IALLTOALL: plan = plan_alltoall(topology); break;
    case COLL_IEXSCAN: plan = plan_scan(topology, true); break;
    case COLL_IGATHER: plan = plan_gather(topology, root); break;
    case COLL_IREDUCE_SCATTER:
    case COLL_IREDUCE_SCATTER_BLOCK: plan = plan_reduce_scatter(topology); break;
    case COLL_ISCAN: plan = plan_scan(topology, false); break;
    case COLL_ISCATTER: plan = plan_scatter(topology, root); break;
    default: plan = plan_vectors(topology, collective, root);
    }
    plan.most = most_messages(&plan);
    return plan;
}

void plan_free(struct plan *plan)
{
    reserve_put(plan->step);
    *plan = (struct plan){0};
}
