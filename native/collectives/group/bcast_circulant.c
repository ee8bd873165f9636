#include <math.h>

#include "circulant.h"
#include "cost.h"
#include "group.h"

/* Rounds whose blocks are expected at once, as many as a message's latency usually has times for the next one; and blocks on their
   way to one member. */
enum { WINDOW = 16, OUT = 2, MOST = CIRCULANT_MOST };

/* What goes to the member one skip further on. Each has a queue of its own: what is here passes on while others wait, as in
   two_trees.c. */
struct queue {
    int to, first; /* a rank, and its block of the first turn */
    int64_t turn;  /* the next one */
};

struct circle {
    const struct group *group;
    const struct arrival *arrival;
    struct circulant graph;
    struct circulant_arrivals arrivals;
    bool is_root;
    char *data;
    int64_t bytes, piece;
    int64_t expected, rounds; /* the next round whose block is not expected yet, of so many */
    int64_t told;
    int from[MOST]; /* ranks */
    struct queue queues[MOST];
    MPI_Request requests[WINDOW + MOST * OUT]; /* in, by round; then out, by queue */
};

static int64_t length(const struct circle *circle, int64_t block)
{
    const int64_t left = circle->bytes - block * circle->piece;
    return left < circle->piece ? left : circle->piece;
}

static bool is_here(const struct circle *circle, int64_t block)
{
    if (circle->is_root)
        return true;
    const int64_t round = circulant_arrival(&circle->graph, &circle->arrivals, block);
    return round + WINDOW < circle->expected ||
           (round < circle->expected && circle->requests[round % WINDOW] == MPI_REQUEST_NULL);
}

static int expect(struct circle *circle)
{
    int error = MPI_SUCCESS;
    while (circle->expected < circle->rounds && error == MPI_SUCCESS) {
        MPI_Request *request = &circle->requests[circle->expected % WINDOW];
        if (*request != MPI_REQUEST_NULL)
            break;
        const int k = (int)(circle->expected % circle->graph.rounds);
        const int64_t turn = circle->expected / circle->graph.rounds;
        const int64_t block = circulant_block(&circle->graph, circle->arrivals.first[k], turn);
        if (block >= 0)
            error = fabric_start_receive(&circle->group->comm->fabric, circle->data + block * circle->piece,
                                         length(circle, block), circle->from[k], circle->group->tag, request);
        circle->expected++;
    }
    return error;
}

/* Where the next block of a queue may begin its way; NULL: it must wait. */
static MPI_Request *ready(struct circle *circle, int k)
{
    const struct queue *queue = &circle->queues[k];
    MPI_Request *request = &circle->requests[WINDOW + k * OUT + queue->turn % OUT];
    if (queue->turn >= circle->graph.turns || *request != MPI_REQUEST_NULL ||
        !is_here(circle, circulant_block(&circle->graph, queue->first, queue->turn)))
        return NULL;
    return request;
}

/* The earliest rounds first: what they bring has the longest way to go. */
static int pass_on(struct circle *circle)
{
    for (;;) {
        MPI_Request *request = NULL;
        int next = 0;
        for (int k = 0; k < circle->graph.rounds; k++) {
            MPI_Request *other = NULL;
            if (request == NULL || circle->queues[k].turn < circle->queues[next].turn)
                other = ready(circle, k);
            if (other != NULL) {
                request = other;
                next = k;
            }
        }
        if (request == NULL)
            return MPI_SUCCESS;
        struct queue *queue = &circle->queues[next];
        const int64_t block = circulant_block(&circle->graph, queue->first, queue->turn++);
        const int error = fabric_start_send(&circle->group->comm->fabric, circle->data + block * circle->piece,
                                            length(circle, block), queue->to, circle->group->tag, request);
        if (error != MPI_SUCCESS)
            return error;
    }
}

/* In the order of the blocks, which all ranks of a node know. */
static int tell(struct circle *circle)
{
    int error = MPI_SUCCESS;
    for (; circle->arrival != NULL && circle->told < circle->graph.blocks && is_here(circle, circle->told) &&
           error == MPI_SUCCESS;
         circle->told++)
        error = arrival_tell(circle->arrival, (int)circle->told);
    return error;
}

static void set(struct circle *circle, int root)
{
    const struct group *group = circle->group;
    const struct circulant *graph = &circle->graph;
    const int size = group->size, place = (int)(((int64_t)group->me - root + size) % size);
    circle->is_root = place == 0;
    circle->expected = graph->left_out;
    circle->rounds = circle->is_root ? 0 : graph->turns * graph->rounds;
    if (!circle->is_root)
        circulant_set_arrivals(graph, place, &circle->arrivals);
    for (int k = 0; k < graph->rounds; k++) {
        const int from = circulant_from(graph, place, k), to = circulant_to(graph, place, k);
        struct queue *queue = &circle->queues[k];
        circle->from[k] = group_rank(group, (int)(((int64_t)from + root) % size));
        queue->to = group_rank(group, (int)(((int64_t)to + root) % size));
        queue->turn = graph->turns;
        if (to == 0) /* nothing */
            continue;
        signed char first[MOST];
        circulant_blocks(graph, to, first);
        queue->first = first[k];
        queue->turn = 0;
        while (circulant_block(graph, queue->first, queue->turn) < 0 && queue->turn < graph->turns)
            queue->turn++;
    }
    for (int i = 0; i < WINDOW + MOST * OUT; i++)
        circle->requests[i] = MPI_REQUEST_NULL;
}

/* On its way, the last block waits in `rounds` - 1 rounds for its own length and for that of others which are on the same links, so many
   times together as simulated. The more blocks there are, the shorter they are, and the more messages. With this number both take as
   long. It is the paper's, but that a round costs no latency, as rounds do not wait for one another: it costs one more message. */
static double blocks_for(const struct coll_comm *comm, double bytes)
{
    const double on_links = 3;
    const int rounds = cost_levels(comm->topology.nodes, 2);
    return sqrt(on_links * (rounds > 1 ? rounds - 1 : 1) * bytes * comm->costs.fabric_byte /
                comm->costs.fabric_message);
}

int64_t group_circulant_piece(const struct coll_comm *comm, int64_t bytes)
{
    enum { LEAST = 1024 };
    const double blocks = comm->costs.fabric_message > 0 ? blocks_for(comm, (double)bytes) : 1;
    const int64_t piece = blocks > 1 ? (int64_t)((double)bytes / blocks) : bytes;
    return piece < bytes ? (piece < LEAST ? LEAST : piece) : bytes;
}

/* Blocks share links with others, even behind one switch: 1.5, as simulated; on a torus 1.2, of any size. And in rounds of long skips every node sends far at once.
   Where groups of nodes have few links to one another, as on a dragonfly, these carry a block for each node of a group: here one link
   for 64 nodes, an assumption, which leaves large numbers of nodes to trees. */
double group_circulant_cost(const struct coll_comm *comm, int64_t bytes)
{
    const double shared = torus_applies(comm) ? 1.2 : 1.5 + comm->topology.nodes / 64.;
    const double blocks = comm->costs.fabric_message > 0 ? blocks_for(comm, (double)bytes) : 1;
    return cost_fabric(comm, cost_levels(comm->topology.nodes, 2), shared * (double)bytes) +
           2 * blocks * comm->costs.fabric_message + cost_wait(comm) * blocks;
}

int group_bcast_circulant(const struct group *group, int root, void *data, int64_t bytes, const struct arrival *arrival)
{
    const struct fabric *fabric = &group->comm->fabric;
    struct circle circle = {.group = group, .arrival = arrival, .data = data, .bytes = bytes};
    if (bytes == 0 || group->size < 2)
        return MPI_SUCCESS;
    circle.piece = group_circulant_piece(group->comm, bytes);
    circle.graph = circulant_of(group->size, (bytes + circle.piece - 1) / circle.piece);
    set(&circle, root);
    const int count = WINDOW + circle.graph.rounds * OUT;
    int error = MPI_SUCCESS, which = 0;
    while (error == MPI_SUCCESS && which >= 0) {
        error = expect(&circle);
        if (error == MPI_SUCCESS)
            error = pass_on(&circle);
        if (error == MPI_SUCCESS)
            error = tell(&circle);
        if (error == MPI_SUCCESS)
            error = fabric_wait_any(fabric, count, circle.requests, &which);
    }
    return fabric_finish(fabric, error, count, circle.requests);
}
