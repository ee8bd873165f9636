#include "near_trees.h"

#include <math.h>
#include <string.h>

#include "cost.h"
#include "group.h"

/* Pieces of a tree on their way at once; messages of a piece to or from two children and the parent; requests of a tree. */
enum { WINDOW = 4, CHILDREN = 2, MESSAGES = CHILDREN + 1, REQUESTS = MESSAGES * WINDOW };

/* One tree and its half of the vector. */
struct flow {
    struct tree_place at;
    int tree, tag, pieces;
    int asked[CHILDREN]; /* receives from each child, or from the parent, that were begun */
    int passed;          /* pieces that were sent on, or are combined on the root */
    MPI_Request *above, *below[CHILDREN];
    char *room[CHILDREN]; /* for what children send: WINDOW pieces */
};

struct trees {
    const struct group *group;
    const struct places *places;       /* NULL: over members alone */
    const struct reduction *reduction; /* NULL: down from the root */
    const struct arrival *arrival;
    int64_t told;
    const char *send;
    char *data; /* NULL: no result here */
    int64_t count, element, piece;
    struct flow flows[2];
    MPI_Request requests[2 * REQUESTS];
};

static struct span span_of(const struct trees *trees, const struct flow *flow, int piece)
{
    return two_trees_piece(trees->count, trees->piece, 2 * (int64_t)piece + flow->tree);
}

static bool is_through(const MPI_Request *window, int piece)
{
    return window[piece % WINDOW] == MPI_REQUEST_NULL;
}

static int receive(const struct trees *trees, const struct flow *flow, void *to, int piece, int from,
                   MPI_Request *window)
{
    struct span span = span_of(trees, flow, piece);
    return fabric_start_receive(&trees->group->comm->fabric, to, (span.to - span.from) * trees->element,
                                group_rank(trees->group, from), flow->tag, &window[piece % WINDOW]);
}

static int send(const struct trees *trees, const struct flow *flow, const void *data, int piece, int to,
                MPI_Request *window)
{
    struct span span = span_of(trees, flow, piece);
    return fabric_start_send(&trees->group->comm->fabric, data, (span.to - span.from) * trees->element,
                             group_rank(trees->group, to), flow->tag, &window[piece % WINDOW]);
}

static int move_down(const struct trees *trees, struct flow *flow)
{
    int error = MPI_SUCCESS;
    for (bool moved = true; moved && error == MPI_SUCCESS;) {
        moved = false;
        const int next = flow->asked[0], piece = flow->passed;
        if (next < flow->pieces && next < piece + WINDOW) {
            if (flow->at.parent >= 0)
                error = receive(trees, flow, trees->data + span_of(trees, flow, next).from * trees->element, next,
                                flow->at.parent, flow->above);
            flow->asked[0]++;
            moved = true;
        }
        bool ready = flow->asked[0] > piece && is_through(flow->above, piece);
        for (int i = 0; i < flow->at.count; i++)
            ready = ready && is_through(flow->below[i], piece);
        if (!ready || error != MPI_SUCCESS)
            continue;
        for (int i = 0; i < flow->at.count && error == MPI_SUCCESS; i++)
            error = send(trees, flow, trees->data + span_of(trees, flow, piece).from * trees->element, piece,
                         flow->at.children[i], flow->below[i]);
        flow->passed++;
        moved = true;
    }
    return error;
}

static char *room_of(const struct trees *trees, const struct flow *flow, int child, int piece)
{
    return flow->room[child] + piece % WINDOW * trees->piece * trees->element;
}

/* The own piece with those of the children, in the first one's room; on the root in the result. */
static int combine(const struct trees *trees, struct flow *flow)
{
    const int piece = flow->passed++;
    const struct span span = span_of(trees, flow, piece);
    const char *result = trees->send + span.from * trees->element;
    const bool last = flow->at.parent < 0;
    for (int i = 0; i < flow->at.count; i++) {
        char *into = last ? trees->data + span.from * trees->element : room_of(trees, flow, 0, piece);
        trees->reduction->combine(trees->reduction, result, room_of(trees, flow, i, piece), into, span.to - span.from);
        result = into;
    }
    return last ? MPI_SUCCESS : send(trees, flow, result, piece, flow->at.parent, flow->above);
}

static int move_up(const struct trees *trees, struct flow *flow)
{
    int error = MPI_SUCCESS;
    for (bool moved = true; moved && error == MPI_SUCCESS;) {
        moved = false;
        bool complete = flow->passed < flow->pieces && is_through(flow->above, flow->passed);
        for (int i = 0; i < flow->at.count && error == MPI_SUCCESS; i++) {
            /* Its room is that of the piece WINDOW before it, which must have left. */
            const int next = flow->asked[i];
            if (next < flow->pieces && next < flow->passed + WINDOW && is_through(flow->above, next)) {
                error = receive(trees, flow, room_of(trees, flow, i, next), next, flow->at.children[i], flow->below[i]);
                flow->asked[i]++;
                moved = true;
            }
            complete = complete && flow->asked[i] > flow->passed && is_through(flow->below[i], flow->passed);
        }
        if (complete && error == MPI_SUCCESS) {
            error = combine(trees, flow);
            moved = true;
        }
    }
    return error;
}

/* What has come, in the order in which everybody expects to hear of it. */
static int tell(struct trees *trees)
{
    int error = MPI_SUCCESS;
    for (; trees->arrival != NULL && trees->told < two_trees_pieces(trees->count, trees->piece) && error == MPI_SUCCESS;
         trees->told++) {
        const struct flow *flow = &trees->flows[trees->told % 2];
        if (flow->pieces > trees->told / 2 && flow->passed <= trees->told / 2)
            break;
        error = arrival_tell(trees->arrival, (int)trees->told);
    }
    return error;
}

/* Each tree has a queue of its own: what comes is passed on, whichever of both it is of. */
static int run(struct trees *trees)
{
    const struct fabric *fabric = &trees->group->comm->fabric;
    int error = MPI_SUCCESS, which = 0;
    while (error == MPI_SUCCESS && which >= 0) {
        for (int tree = 0; tree < 2 && error == MPI_SUCCESS; tree++)
            error = (trees->reduction == NULL ? move_down : move_up)(trees, &trees->flows[tree]);
        if (error == MPI_SUCCESS)
            error = tell(trees);
        if (error == MPI_SUCCESS)
            error = fabric_wait_any(fabric, 2 * REQUESTS, trees->requests, &which);
    }
    return fabric_finish(fabric, error, 2 * REQUESTS, trees->requests);
}

static void set_flow(struct trees *trees, int root, int tree, char *room)
{
    const struct group *group = trees->group;
    const struct near_trees shape = {trees->places, group->size, root};
    const struct span half = part_of(trees->count, tree, 2);
    struct flow *flow = &trees->flows[tree];
    *flow = (struct flow){.at = near_trees_at(&shape, group->me, tree),
                          .tree = tree,
                          /* Two members may be neighbours in both trees. */
                          .tag = tree == 0 ? trees->group->tag : FABRIC_SECOND,
                          .pieces = (int)((half.to - half.from + trees->piece - 1) / trees->piece),
                          .above = trees->requests + (ptrdiff_t)tree * REQUESTS};
    for (int i = 0; i < CHILDREN; i++)
        flow->below[i] = flow->above + (ptrdiff_t)(1 + i) * WINDOW;
    /* Nobody has more than CHILDREN children in both trees together. */
    const int used = tree == 0 ? 0 : trees->flows[0].at.count;
    for (int i = 0; i < flow->at.count && room != NULL; i++)
        flow->room[i] = room + (used + i) * WINDOW * trees->piece * trees->element;
}

static int both_trees(struct trees *trees, int root)
{
    char *room = NULL;
    trees->piece = group_two_trees_piece(trees->group->comm, trees->places, trees->count, trees->element);
    for (int i = 0; i < 2 * REQUESTS; i++)
        trees->requests[i] = MPI_REQUEST_NULL;
    if (trees->reduction != NULL) {
        room = coll_scratch(trees->group->comm, trees->group->scratch,
                            CHILDREN * WINDOW * trees->piece * trees->element + 1);
        if (room == NULL)
            return MPI_ERR_NO_MEM;
    }
    for (int tree = 0; tree < 2; tree++)
        set_flow(trees, root, tree, room);
    return run(trees);
}

static int levels_of(const struct coll_comm *comm, const struct places *places)
{
    const int levels = near_trees_depth(places, comm->topology.nodes);
    return levels > 1 ? levels : 1;
}

/* To fill a tree, a piece waits at each level for those that share a node's link with it: as long pieces are, so long that takes, and
   the shorter they are, the more messages. This is the least of one, and as much of the other. */
static double seconds_to_fill(const struct coll_comm *comm, const struct places *places, double bytes)
{
    const int levels = levels_of(comm, places);
    return sqrt(bytes / 2 * comm->costs.fabric_byte * CHILDREN * WINDOW * levels * MESSAGES *
                comm->costs.fabric_message);
}

int64_t group_two_trees_piece(const struct coll_comm *comm, const struct places *places, int64_t count, int64_t element)
{
    enum { LEAST = 1024 };
    double half = (double)(count * element) / 2;
    double seconds = seconds_to_fill(comm, places, 2 * half);
    double bytes = seconds > 0 ? half * MESSAGES * comm->costs.fabric_message / seconds : half;
    int64_t most = (count + 1) / 2, piece = (int64_t)(bytes < LEAST ? LEAST : bytes) / element;
    piece = piece < most ? piece : most;
    return piece < 1 ? 1 : piece;
}

/* Every node gets and sends each byte once; at each level a message is waited for, and pieces fill the tree. What pieces share links
   for is as simulated: more on a torus, where neighbours in a tree are several links apart. */
double group_two_trees_cost(const struct coll_comm *comm, const struct places *places, int64_t bytes)
{
    const int64_t piece = group_two_trees_piece(comm, places, bytes, 1);
    const double shared = torus_applies(comm) ? 2.5 : 1.3;
    return cost_fabric(comm, levels_of(comm, places) + 1, shared * (double)bytes) +
           seconds_to_fill(comm, places, (double)bytes) + cost_wait(comm) * (double)two_trees_pieces(bytes, piece);
}

int group_bcast_two_trees(const struct group *group, const struct places *places, int root, void *data, int64_t bytes,
                          const struct arrival *arrival)
{
    struct trees trees = {
        .group = group, .places = places, .arrival = arrival, .data = data, .count = bytes, .element = 1};
    return both_trees(&trees, root);
}

int group_reduce_two_trees(const struct group *group, const struct places *places, int root, const void *from, void *to,
                           int64_t count, const struct reduction *reduction)
{
    struct trees trees = {.group = group,
                          .places = places,
                          .reduction = reduction,
                          .send = from,
                          .data = to,
                          .count = count,
                          .element = reduction->element};
    if (group->size == 1 && from != to && count > 0)
        memcpy(to, from, (size_t)(count * reduction->element));
    return both_trees(&trees, root);
}
