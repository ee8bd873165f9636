#include "../group/allreduce_nodes.h"
#include "../group/nodes.h"

/* Bytes that a node has under way, each way: enough to fill a link, and what goes both ways on a connection does not
   have to wait for much. */
static const int64_t under_way = 128 << 10;
enum { WINDOW = 16 };

/* Messages are numbered: those that this node sends, and, by the same numbers, those that it receives. */
struct ring {
    struct coll_comm *comm;
    const struct call *call;
    int nodes, node, left,
        right;         /* numbers in the ring; ranks, -1: this rank has no messages, and takes part on its node alone */
    char *data, *room; /* the vector; WINDOW pieces, for what comes to be combined */
    int64_t piece;     /* elements */
    int64_t once, twice;    /* numbers of the first time around, which combines, and of both */
    int64_t pieces, window; /* of a part; messages under way */
    int64_t posted, started, done;
    MPI_Request in[WINDOW], out[WINDOW];
};

static struct ring_piece at(const struct ring *ring, int node, int64_t number)
{
    return ring_piece(ring->nodes, node, ring->pieces, number);
}

static struct ring_piece sent(const struct ring *ring, int64_t number)
{
    return at(ring, ring->node, number);
}

static struct ring_piece received(const struct ring *ring, int64_t number)
{
    return at(ring, (ring->node + ring->nodes - 1) % ring->nodes, number);
}

/* Elements. */
static struct span span_of(const struct ring *ring, struct ring_piece piece)
{
    struct span part = part_of(ring->call->count, piece.part, ring->nodes);
    int64_t from = part.from + piece.piece * ring->piece, to = from + ring->piece;
    return (struct span){from < part.to ? from : part.to, to < part.to ? to : part.to};
}

static int64_t bytes_of(const struct ring *ring, struct span span)
{
    return (span.to - span.from) * ring->call->reduction.element;
}

static char *place_of(const struct ring *ring, struct span span)
{
    return ring->data + span.from * ring->call->reduction.element;
}

static char *room_of(const struct ring *ring, int64_t number)
{
    return ring->room + number % ring->window * ring->piece * ring->call->reduction.element;
}

/* What comes the second time around takes the place of what this node sent the first time: that must have left. */
static int post_receives(struct ring *ring)
{
    int error = MPI_SUCCESS;
    while (ring->left >= 0 && error == MPI_SUCCESS && ring->posted < ring->twice &&
           ring->posted < ring->done + ring->window && ring->posted - ring->once < ring->started) {
        int64_t number = ring->posted++, before = number - ring->once;
        struct span span = span_of(ring, received(ring, number));
        if (before >= 0 && before + ring->window >= ring->started)
            error = fabric_wait(&ring->comm->fabric, 1, &ring->out[before % ring->window]);
        if (error == MPI_SUCCESS)
            error =
                fabric_start_receive(&ring->comm->fabric, before < 0 ? room_of(ring, number) : place_of(ring, span),
                                     bytes_of(ring, span), ring->left, FABRIC_DATA, &ring->in[number % ring->window]);
    }
    return error;
}

static int combine_on_node(const struct ring *ring, struct span span)
{
    const struct call *call = ring->call;
    if (span.from == span.to)
        return MPI_SUCCESS;
    return node_reduce(ring->comm, 0, (const char *)call->send + span.from * call->reduction.element,
                       ring->left >= 0 ? place_of(ring, span) : NULL, span.to - span.from, &call->reduction);
}

static int send_next(struct ring *ring)
{
    int64_t number = ring->started++;
    struct ring_piece piece = sent(ring, number);
    struct span span = span_of(ring, piece);
    int error = piece.step == 0 ? combine_on_node(ring, span) : MPI_SUCCESS;
    if (error != MPI_SUCCESS || ring->left < 0)
        return error;
    error = fabric_wait(&ring->comm->fabric, 1, &ring->out[number % ring->window]);
    return error != MPI_SUCCESS ? error
                                : fabric_start_send(&ring->comm->fabric, place_of(ring, span), bytes_of(ring, span),
                                                    ring->right, FABRIC_DATA, &ring->out[number % ring->window]);
}

static int receive_next(struct ring *ring)
{
    int64_t number = ring->done;
    struct ring_piece piece = received(ring, number);
    struct span span = span_of(ring, piece);
    const struct reduction *reduction = &ring->call->reduction;
    char *place = place_of(ring, span);
    int error = post_receives(ring);
    if (error == MPI_SUCCESS && number < ring->once)
        error = combine_on_node(ring, span);
    if (error == MPI_SUCCESS && ring->left >= 0)
        error = fabric_wait(&ring->comm->fabric, 1, &ring->in[number % ring->window]);
    if (error != MPI_SUCCESS)
        return error;
    if (ring->left >= 0 && number < ring->once)
        reduction->combine(reduction, room_of(ring, number), place, place, span.to - span.from);
    ring->done++;
    bool complete = piece.step >= ring->nodes - 2;
    return complete && span.from < span.to ? node_bcast(ring->comm, 0, place, bytes_of(ring, span)) : MPI_SUCCESS;
}

/* What is sent the second step and later has come one part before: so many messages may be ahead of what comes. */
static int go_around(struct ring *ring)
{
    int64_t ahead = (ring->window < ring->pieces ? ring->window : ring->pieces) - 1;
    int error = post_receives(ring);
    for (int64_t i = 0; i < ring->twice + ahead && error == MPI_SUCCESS; i++) {
        if (i < ring->twice)
            error = send_next(ring);
        if (error == MPI_SUCCESS && i >= ahead)
            error = receive_next(ring);
    }
    return error == MPI_SUCCESS ? fabric_wait(&ring->comm->fabric, WINDOW, ring->out) : error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    int nodes = comm->topology.nodes;
    int64_t element = call->reduction.element, window = under_way / segment;
    int64_t longest = (call->count + nodes - 1) / nodes;
    struct group leaders = group_near(comm, 0);
    struct ring ring = {.comm = comm,
                        .call = call,
                        .nodes = nodes,
                        .node = group_of_node(&leaders, comm->topology.node),
                        .left = -1,
                        .right = -1,
                        .data = call->receive};
    if (call->count == 0)
        return MPI_SUCCESS;
    ring.piece = segment / element > 0 ? segment / element : 1;
    ring.pieces = (longest + ring.piece - 1) / ring.piece;
    ring.once = (nodes - 1) * ring.pieces;
    ring.twice = 2 * ring.once;
    ring.window = window < 2 ? 2 : window < WINDOW ? window : WINDOW;
    for (int i = 0; i < WINDOW; i++)
        ring.in[i] = ring.out[i] = MPI_REQUEST_NULL;
    if (leaders.me >= 0) {
        ring.left = group_rank(&leaders, (leaders.me + nodes - 1) % nodes);
        ring.right = group_rank(&leaders, (leaders.me + 1) % nodes);
        ring.room = coll_scratch(comm, SCRATCH_WORK, ring.window * ring.piece * element);
        if (ring.room == NULL)
            return MPI_ERR_NO_MEM;
    }
    return go_around(&ring);
}

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return nodes_several(comm) && shape->commutative;
}

/* The node combines and hands out while messages are on their way, but for the first and the last piece; of the
   messages only few have to be waited for. */
static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double bytes = (double)shape->bytes, piece = bytes < RING_SEGMENT ? bytes : RING_SEGMENT;
    int nodes = comm->topology.nodes;
    double away = cost_fabric_near(comm, 2 * (nodes - 1) + bytes / RING_SEGMENT / 8, 2 * bytes * (nodes - 1) / nodes);
    double here = cost_leaders(comm, bytes);
    return (away > here ? away : here) + cost_leaders(comm, piece);
}

static struct crossing crosses(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_crossing(comm, CROSSING_RING, true, 2 * (double)shape->bytes);
}

const struct algorithm allreduce_ring = {
    .name = "allreduce_ring",
    .collective = COLL_ALLREDUCE,
    .meaning = "Segments, twice around a ring of one rank of each node: each is combined on the node when it is "
               "needed, sent on when it has come, and handed out on the node while others are on their way.",
    .reference = "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations (2009)",
    .segment = RING_SEGMENT,
    .applies = applies,
    .cost = cost,
    .crosses = crosses,
    .run = run,
};
