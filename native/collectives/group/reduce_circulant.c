#include "circulant.h"
#include "group.h"
#include "schedule.h"

/* A broadcast over the graph, played backwards: where a place got a block, it now gives what it and all who had the block from it
 * have combined. Blocks of one skip come from the same member, the last ones first. What comes for one block is combined in the
 * order of the rounds, backwards, whatever comes first: the same call gives the same bits each time. Blocks of other members do
 * not wait for it. */

/* Messages of one skip on their way at once: blocks that are expected, and blocks that were sent. */
enum { IN = 2, OUT = 2, MESSAGES = IN + OUT, MOST = CIRCULANT_MOST };

/* What belongs to one skip, from the last turn down to the first. */
struct queue {
    int rank, first;        /* at the other end; the block of the first turn */
    int64_t expected, turn; /* the next one to be expected; to be combined, or to be sent */
};

struct circle {
    const struct group *group;
    const struct reduction *reduction;
    struct circulant graph;
    const char *send;
    char *result, *room; /* of all blocks; of IN blocks for each skip */
    int64_t count, piece;
    struct queue in[MOST], out[MOST];
    MPI_Request requests[MOST * MESSAGES]; /* by skip: in, then out */
};

static int64_t block_of(const struct circle *circle, const struct queue *queue, int64_t turn)
{
    return turn < 0 ? -1 : circulant_block(&circle->graph, queue->first, turn);
}

static struct span elements(const struct circle *circle, int64_t block)
{
    const int64_t from = block * circle->piece, left = circle->count - from;
    return (struct span){from, from + (left < circle->piece ? left : circle->piece)};
}

static char *room_of(const struct circle *circle, int k, int64_t turn)
{
    return circle->room + (k * IN + turn % IN) * circle->piece * circle->reduction->element;
}

static MPI_Request *request_in(struct circle *circle, int k, int64_t turn)
{
    return &circle->requests[k * MESSAGES + turn % IN];
}

static MPI_Request *request_out(struct circle *circle, int k, int64_t turn)
{
    return &circle->requests[k * MESSAGES + IN + turn % OUT];
}

/* Of what comes for a block in rounds after this one: whether there is any, and whether some of it is not combined yet. */
static bool comes_after(const struct circle *circle, int64_t block, int64_t round, bool *waits)
{
    bool any = false;
    *waits = false;
    for (int k = 0; k < circle->graph.rounds; k++) {
        const struct queue *queue = &circle->in[k];
        const int64_t turn = queue->rank < 0 ? -1 : circulant_turn(&circle->graph, queue->first, block);
        if (turn < 0 || turn * circle->graph.rounds + k <= round)
            continue;
        any = true;
        *waits = *waits || queue->turn >= turn;
    }
    return any;
}

static int expect(struct circle *circle)
{
    const struct group *group = circle->group;
    int error = MPI_SUCCESS;
    for (int k = 0; k < circle->graph.rounds && error == MPI_SUCCESS; k++) {
        struct queue *queue = &circle->in[k];
        while (queue->expected > queue->turn - IN && error == MPI_SUCCESS) {
            const int64_t turn = queue->expected, block = block_of(circle, queue, turn);
            if (block < 0)
                break;
            const struct span span = elements(circle, block);
            error = fabric_start_receive(&group->comm->fabric, room_of(circle, k, turn),
                                         (span.to - span.from) * circle->reduction->element, queue->rank, group->tag,
                                         request_in(circle, k, turn));
            queue->expected--;
        }
    }
    return error;
}

static bool combine_next(struct circle *circle, int k)
{
    struct queue *queue = &circle->in[k];
    const int64_t turn = queue->turn, block = block_of(circle, queue, turn);
    bool waits;
    if (block < 0 || queue->expected >= turn || *request_in(circle, k, turn) != MPI_REQUEST_NULL)
        return false;
    const bool again = comes_after(circle, block, turn * circle->graph.rounds + k, &waits);
    if (waits)
        return false;
    const struct span span = elements(circle, block);
    const int64_t at = span.from * circle->reduction->element;
    circle->reduction->combine(circle->reduction, (again ? circle->result : circle->send) + at,
                               room_of(circle, k, turn), circle->result + at, span.to - span.from);
    queue->turn--;
    return true;
}

static void combine(struct circle *circle)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int k = 0; k < circle->graph.rounds; k++)
            moved = combine_next(circle, k) || moved;
    }
}

static int send_next(struct circle *circle, int k, bool *moved)
{
    const struct group *group = circle->group;
    struct queue *queue = &circle->out[k];
    const int64_t turn = queue->turn, block = block_of(circle, queue, turn);
    bool waits;
    if (block < 0 || *request_out(circle, k, turn) != MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    const bool combined = comes_after(circle, block, -1, &waits);
    if (waits)
        return MPI_SUCCESS;
    const struct span span = elements(circle, block);
    const int64_t element = circle->reduction->element;
    queue->turn--;
    *moved = true;
    return fabric_start_send(&group->comm->fabric, (combined ? circle->result : circle->send) + span.from * element,
                             (span.to - span.from) * element, queue->rank, group->tag, request_out(circle, k, turn));
}

/* The last rounds first, as what they bring has the longest way to go. */
static int pass_on(struct circle *circle)
{
    int error = MPI_SUCCESS;
    for (bool moved = true; moved && error == MPI_SUCCESS;) {
        moved = false;
        for (int k = circle->graph.rounds - 1; k >= 0 && error == MPI_SUCCESS; k--)
            error = send_next(circle, k, &moved);
    }
    return error;
}

static void set(struct circle *circle, int root)
{
    const struct group *group = circle->group;
    const struct circulant *graph = &circle->graph;
    const int size = group->size, place = (int)(((int64_t)group->me - root + size) % size);
    signed char mine[MOST], theirs[MOST];
    if (place > 0)
        circulant_blocks(graph, place, mine);
    for (int k = 0; k < graph->rounds; k++) {
        const int from = circulant_from(graph, place, k), to = circulant_to(graph, place, k);
        const int64_t last = graph->turns - 1;
        circle->out[k] = (struct queue){.rank = group_rank(group, (int)(((int64_t)from + root) % size)), .turn = -1};
        circle->in[k] = (struct queue){.rank = -1, .expected = -1, .turn = -1};
        if (place > 0) {
            circle->out[k].first = mine[k];
            circle->out[k].turn = last;
        }
        if (to == 0) /* from whom nothing comes */
            continue;
        circulant_blocks(graph, to, theirs);
        circle->in[k] = (struct queue){.rank = group_rank(group, (int)(((int64_t)to + root) % size)),
                                       .first = theirs[k],
                                       .expected = last,
                                       .turn = last};
    }
    for (int i = 0; i < graph->rounds * MESSAGES; i++)
        circle->requests[i] = MPI_REQUEST_NULL;
}

/* Elements of a block. There is room for some of each skip: a bound on long ones is one on memory. */
static int64_t piece_of(const struct coll_comm *comm, int64_t count, int64_t element)
{
    enum { LONGEST = 64 << 10 };
    const int64_t bytes = group_circulant_piece(comm, count * element);
    const int64_t piece = (bytes < LONGEST ? bytes : LONGEST) / element;
    return piece < 1 ? 1 : piece;
}

int64_t group_reduce_circulant_room(const struct coll_comm *comm, int members, int64_t count, int64_t element)
{
    return circulant_of(members, 1).rounds * IN * piece_of(comm, count, element) * element;
}

int group_reduce_circulant(const struct group *group, int root, const void *send, void *receive, int64_t count,
                           const struct reduction *reduction)
{
    const struct fabric *fabric = &group->comm->fabric;
    const int64_t element = reduction->element;
    struct circle circle = {.group = group, .reduction = reduction, .send = send, .result = receive, .count = count};
    if (count == 0)
        return MPI_SUCCESS;
    circle.piece = piece_of(group->comm, count, element);
    circle.graph = circulant_of(group->size, (count + circle.piece - 1) / circle.piece);
    const int64_t blocks = group_reduce_circulant_room(group->comm, group->size, count, element);
    char *work = coll_scratch(group->comm, group->scratch, blocks + count * element);
    if (work == NULL)
        return MPI_ERR_NO_MEM;
    circle.room = work;
    if (group->me != root)
        circle.result = work + blocks;
    set(&circle, root);
    const int messages = circle.graph.rounds * MESSAGES;
    int error = MPI_SUCCESS, which = 0;
    while (error == MPI_SUCCESS && which >= 0) {
        combine(&circle);
        error = expect(&circle);
        if (error == MPI_SUCCESS)
            error = pass_on(&circle);
        if (error == MPI_SUCCESS)
            error = fabric_wait_any(fabric, messages, circle.requests, &which);
    }
    return fabric_finish(fabric, error, messages, circle.requests);
}
