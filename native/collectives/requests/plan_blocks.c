/* Plans of collectives in which ranks have blocks for one another. In memory of ours blocks lie in the order of the nodes
 * (topology.members), so that those of a node follow one another, wherever its ranks are. */
#include "plan.h"

#include "../group/schedule.h"

enum { AT_ONCE = 8 /* nodes that a rank sends to at a time, or receives from */ };

static void message(struct plan *plan, enum plan_kind kind, int peer, enum plan_where where, int at, int blocks)
{
    plan_message(plan, kind, peer, (struct plan_place){where, at}, blocks);
}

static int local_rank(const struct topology *topology, int local)
{
    return topology_rank(topology, topology->node, local);
}

static int leader(const struct topology *topology, int node)
{
    return topology_rank(topology, node, 0);
}

/* A block for each rank, from the program's order into ours, or the other way round. */
static void order(struct plan *plan, const struct topology *topology, enum plan_kind kind, struct plan_place from,
                  struct plan_place to)
{
    struct plan_step *step = plan_add(plan, kind, -1);
    step->place = from;
    step->to = to;
    step->blocks = topology->ranks;
}

static void copy(struct plan *plan, struct plan_place from, int stride, struct plan_place to, int to_stride, int rows,
                 int blocks)
{
    struct plan_step *step = plan_copy(plan, from, to, blocks);
    step->stride = stride;
    step->to_stride = to_stride;
    step->rows = rows;
}

/* Blocks of the ranks of this node, from each to the first: up a binomial tree. */
static void gather(struct plan *plan, const struct topology *topology)
{
    const int begin = topology->first[topology->node], here = topology->locals, me = topology->local;
    int step = 1;
    for (; step < here && !(me & step); step *= 2)
        if (me + step < here)
            message(plan, PLAN_RECEIVE, local_rank(topology, me + step), PLAN_MINE, begin + me + step,
                    step < here - me - step ? step : here - me - step);
    plan_wait(plan);
    if (step >= here)
        return;
    message(plan, PLAN_SEND, local_rank(topology, me - step), PLAN_MINE, begin + me,
            step < here - me ? step : here - me);
    plan_wait(plan);
}

/* Blocks of so many nodes from this one on, around the end, too: one or two runs of them. */
struct runs {
    int count;
    struct {
        int at, blocks;
    } run[2];
};

static struct runs runs_of_nodes(const struct topology *topology, int node, int count)
{
    const int nodes = topology->nodes, begin = node % nodes, end = begin + count < nodes ? begin + count : nodes;
    const int *first = topology->first;
    struct runs runs = {.count = 1, .run[0] = {first[begin], first[end] - first[begin]}};
    if (begin + count > nodes) {
        runs.run[1].blocks = first[begin + count - nodes];
        runs.count = 2;
    }
    return runs;
}

static void message_of_nodes(struct plan *plan, const struct topology *topology, enum plan_kind kind, int peer,
                             enum plan_where where, int node, int count)
{
    const struct runs runs = runs_of_nodes(topology, node, count);
    for (int i = 0; i < runs.count; i++)
        message(plan, kind, peer, where, runs.run[i].at, runs.run[i].blocks);
}

/* Bruck's allgather among the first ranks of nodes: after each round a node has the blocks of twice as many nodes from its own on. They
 * come to where they belong, so that what goes around the end is two messages. */
static void go_around(struct plan *plan, const struct topology *topology)
{
    const int nodes = topology->nodes, me = topology->node;
    for (int have = 1; have < nodes; have *= 2) {
        const int count = have < nodes - have ? have : nodes - have;
        message_of_nodes(plan, topology, PLAN_SEND, leader(topology, (me - have + nodes) % nodes), PLAN_MINE, me,
                         count);
        message_of_nodes(plan, topology, PLAN_RECEIVE, leader(topology, (me + have) % nodes), PLAN_MINE, me + have,
                         count);
        plan_wait(plan);
    }
}

struct plan plan_allgather(const struct topology *topology, bool is_there)
{
    const int own = topology->first[topology->node] + topology->local;
    struct plan plan = {.mine = is_there ? 0 : topology->ranks};
    plan_copy(&plan, (struct plan_place){PLAN_GIVEN, 0}, (struct plan_place){PLAN_MINE, own}, 1);
    gather(&plan, topology);
    if (topology->local == 0)
        go_around(&plan, topology);
    plan_down_node(&plan, topology, 0, (struct plan_place){PLAN_MINE, 0}, topology->ranks);
    if (!is_there)
        order(&plan, topology, PLAN_BY_RANK, (struct plan_place){PLAN_MINE, 0}, (struct plan_place){PLAN_GOT, 0});
    return plan;
}

/* A rank that is not the first of its node gives that all its blocks and gets all that are for it. */
static void hand_over(struct plan *plan, const struct topology *topology)
{
    const int ranks = topology->ranks, first = local_rank(topology, 0);
    const struct plan_place mine = {PLAN_MINE, 0}, given = {PLAN_GIVEN, 0}, got = {PLAN_GOT, 0};
    if (!topology->in_order)
        order(plan, topology, PLAN_BY_NODE, given, mine);
    message(plan, PLAN_SEND, first, topology->in_order ? PLAN_GIVEN : PLAN_MINE, 0, ranks);
    plan_wait(plan); /* in place, both are the same memory */
    message(plan, PLAN_RECEIVE, first, topology->in_order ? PLAN_GOT : PLAN_MINE, 0, ranks);
    plan_wait(plan);
    if (!topology->in_order)
        order(plan, topology, PLAN_BY_RANK, mine, got);
}

/* What this node has for each other one, and each other one for it: beside, by node, then by rank that gives, then by rank that gets. */
static void exchange(struct plan *plan, const struct topology *topology)
{
    const int nodes = topology->nodes, me = topology->node, here = topology->locals, ranks = topology->ranks;
    const int *first = topology->first;
    for (int node = 0; node < nodes; node++)
        copy(plan, (struct plan_place){PLAN_MINE, first[node]}, ranks,
             (struct plan_place){PLAN_BESIDE, first[node] * here}, topology_locals(topology, node), here,
             topology_locals(topology, node));
    copy(plan, (struct plan_place){PLAN_BESIDE, first[me] * here}, 0, (struct plan_place){PLAN_MINE, first[me] * here},
         0, 1, here * here);
    for (int i = 1; i < nodes; i++) {
        const int to = (me + i) % nodes, from = (me - i + nodes) % nodes;
        message(plan, PLAN_SEND, leader(topology, to), PLAN_BESIDE, first[to] * here,
                here * topology_locals(topology, to));
        message(plan, PLAN_RECEIVE, leader(topology, from), PLAN_MINE, first[from] * here,
                here * topology_locals(topology, from));
        if (i % AT_ONCE == 0)
            plan_wait(plan);
    }
    plan_wait(plan);
}

struct plan plan_alltoall(const struct topology *topology)
{
    const int here = topology->locals, ranks = topology->ranks;
    struct plan plan = {0};
    if (topology->local > 0) {
        plan.mine = topology->in_order ? 0 : ranks;
        hand_over(&plan, topology);
        return plan;
    }
    plan.mine = plan.beside = here * ranks;
    for (int local = 1; local < here; local++)
        message(&plan, PLAN_RECEIVE, local_rank(topology, local), PLAN_MINE, local * ranks, ranks);
    order(&plan, topology, PLAN_BY_NODE, (struct plan_place){PLAN_GIVEN, 0}, (struct plan_place){PLAN_MINE, 0});
    plan_wait(&plan);
    exchange(&plan, topology);
    /* By rank that gives, in our order, then by rank of this node: the other way round. */
    for (int local = 0; local < here; local++) {
        copy(&plan, (struct plan_place){PLAN_MINE, local}, here, (struct plan_place){PLAN_BESIDE, local * ranks}, 1,
             ranks, 1);
        if (local > 0)
            message(&plan, PLAN_SEND, local_rank(topology, local), PLAN_BESIDE, local * ranks, ranks);
    }
    order(&plan, topology, PLAN_BY_RANK, (struct plan_place){PLAN_BESIDE, 0}, (struct plan_place){PLAN_GOT, 0});
    plan_wait(&plan);
    return plan;
}

/* A binomial tree over nodes, with the root's at its top; a node takes part by the root, or by its first rank. */
struct tree {
    const struct topology *topology;
    int root, home, place; /* its rank, its node; this node's number from there on */
    int step, size;        /* of this node's subtree: tree_step(), and how many nodes there are in it */
};

static struct tree tree_of(const struct topology *topology, int root)
{
    const int nodes = topology->nodes, home = topology->node_of[root];
    struct tree tree = {.topology = topology, .root = root, .home = home};
    tree.place = (topology->node - home + nodes) % nodes;
    tree.step = tree_step(nodes, tree.place, 2);
    tree.size = tree.step < nodes - tree.place ? tree.step : nodes - tree.place;
    return tree;
}

static int head(const struct tree *tree, int node)
{
    return node == tree->home ? tree->root : leader(tree->topology, node);
}

static bool is_head(const struct tree *tree)
{
    const struct topology *topology = tree->topology;
    return head(tree, topology->node) == topology->rank;
}

/* The head of this node and its other ranks: a block each. */
static void blocks_of_node(struct plan *plan, const struct tree *tree, enum plan_kind kind)
{
    const struct topology *topology = tree->topology;
    for (int local = 0; local < topology->locals; local++)
        if (local != topology->local)
            message(plan, kind, local_rank(topology, local), PLAN_MINE, topology->first[topology->node] + local, 1);
}

/* All blocks of a subtree, from or to the node above it. */
static void blocks_of_parent(struct plan *plan, const struct tree *tree, enum plan_kind kind)
{
    const int nodes = tree->topology->nodes;
    const int parent = (tree->home + tree_parent(tree->place, tree->step, 2)) % nodes;
    if (tree->place > 0)
        message_of_nodes(plan, tree->topology, kind, head(tree, parent), PLAN_MINE, tree->topology->node, tree->size);
}

/* Of each subtree below this node, from or to its top. */
static void blocks_of_children(struct plan *plan, const struct tree *tree, enum plan_kind kind)
{
    const int nodes = tree->topology->nodes;
    for (int step = tree->step / 2; step > 0; step /= 2) {
        const int place = tree->place + step, node = (tree->home + place) % nodes;
        if (place < nodes)
            message_of_nodes(plan, tree->topology, kind, head(tree, node), PLAN_MINE, node,
                             step < nodes - place ? step : nodes - place);
    }
}

/* A rank that is not the head of its node. */
static void alone(struct plan *plan, const struct tree *tree, enum plan_kind kind, enum plan_where where)
{
    message(plan, kind, head(tree, tree->topology->node), where, 0, 1);
    plan_wait(plan);
}

struct plan plan_gather(const struct topology *topology, int root)
{
    const struct tree tree = tree_of(topology, root);
    const int own = topology->first[topology->node] + topology->local;
    struct plan plan = {.mine = topology->rank == root && topology->in_order ? 0 : topology->ranks};
    if (!is_head(&tree)) {
        plan.mine = 0;
        alone(&plan, &tree, PLAN_SEND, PLAN_GIVEN);
        return plan;
    }
    plan_copy(&plan, (struct plan_place){PLAN_GIVEN, 0}, (struct plan_place){PLAN_MINE, own}, 1);
    blocks_of_node(&plan, &tree, PLAN_RECEIVE);
    blocks_of_children(&plan, &tree, PLAN_RECEIVE);
    plan_wait(&plan);
    blocks_of_parent(&plan, &tree, PLAN_SEND);
    plan_wait(&plan);
    if (topology->rank == root && !topology->in_order)
        order(&plan, topology, PLAN_BY_RANK, (struct plan_place){PLAN_MINE, 0}, (struct plan_place){PLAN_GOT, 0});
    return plan;
}

struct plan plan_scatter(const struct topology *topology, int root)
{
    const struct tree tree = tree_of(topology, root);
    const int own = topology->first[topology->node] + topology->local;
    struct plan plan = {.mine = topology->ranks};
    if (!is_head(&tree)) {
        plan.mine = 0;
        alone(&plan, &tree, PLAN_RECEIVE, PLAN_GOT);
        return plan;
    }
    if (topology->rank == root)
        order(&plan, topology, PLAN_BY_NODE, (struct plan_place){PLAN_GIVEN, 0}, (struct plan_place){PLAN_MINE, 0});
    blocks_of_parent(&plan, &tree, PLAN_RECEIVE);
    plan_wait(&plan);
    blocks_of_children(&plan, &tree, PLAN_SEND);
    blocks_of_node(&plan, &tree, PLAN_SEND);
    plan_copy(&plan, (struct plan_place){PLAN_MINE, own}, (struct plan_place){PLAN_GOT, 0}, 1);
    plan_wait(&plan);
    return plan;
}

/* All blocks of the ranks of this node, combined, to the first: up a binomial tree. A rank that only sends has them where the program has,
 * if that is in our order. Whether this rank has what is combined, in mine. */
static bool combine_on_node(struct plan *plan, const struct topology *topology)
{
    const int here = topology->locals, me = topology->local, ranks = topology->ranks;
    const struct plan_place mine = {PLAN_MINE, 0}, given = {PLAN_GIVEN, 0};
    const bool only_sends = me % 2 == 1 || me + 1 >= here, is_given = me > 0 && only_sends && topology->in_order;
    int step = 1;
    plan->mine = is_given ? 0 : ranks;
    plan->beside = me > 0 && only_sends ? 0 : ranks;
    if (!is_given)
        order(plan, topology, PLAN_BY_NODE, given, mine);
    for (; step < here && !(me & step); step *= 2) {
        if (me + step >= here)
            continue;
        message(plan, PLAN_RECEIVE, local_rank(topology, me + step), PLAN_BESIDE, 0, ranks);
        plan_wait(plan);
        plan_combine_blocks(plan, 0, ranks);
    }
    if (step >= here)
        return true;
    plan_message(plan, PLAN_SEND, local_rank(topology, me - step), is_given ? given : mine, ranks);
    plan_wait(plan);
    return false;
}

/* Bruck's allgather among the first ranks of nodes backwards: in each round what a node has for others goes on to one that is nearer to
 * them, until it has what all have for itself. Each block is put together on one rank alone. */
static void combine_around(struct plan *plan, const struct topology *topology)
{
    const int nodes = topology->nodes, me = topology->node;
    for (int have = power_below(nodes); have > 0; have /= 2) {
        const int count = have < nodes - have ? have : nodes - have;
        if (count == 0)
            continue;
        const struct runs runs = runs_of_nodes(topology, me, count);
        message_of_nodes(plan, topology, PLAN_SEND, leader(topology, (me + have) % nodes), PLAN_MINE, me + have, count);
        message_of_nodes(plan, topology, PLAN_RECEIVE, leader(topology, (me - have + nodes) % nodes), PLAN_BESIDE, me,
                         count);
        plan_wait(plan);
        for (int i = 0; i < runs.count; i++)
            plan_combine_blocks(plan, runs.run[i].at, runs.run[i].blocks);
    }
}

struct plan plan_reduce_scatter(const struct topology *topology)
{
    const int begin = topology->first[topology->node];
    const struct plan_place got = {PLAN_GOT, 0};
    struct plan plan = {0};
    if (combine_on_node(&plan, topology)) {
        combine_around(&plan, topology);
        for (int local = 1; local < topology->locals; local++)
            message(&plan, PLAN_SEND, local_rank(topology, local), PLAN_MINE, begin + local, 1);
        plan_copy(&plan, (struct plan_place){PLAN_MINE, begin}, got, 1);
    } else {
        plan_message(&plan, PLAN_RECEIVE, local_rank(topology, 0), got, 1);
    }
    plan_wait(&plan);
    return plan;
}
