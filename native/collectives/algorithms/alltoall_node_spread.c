/* Each rank first gets from its neighbours on the node what goes to its own number on all nodes, then sends each node one
 * block. Blocks go in the order of a spread, those half-way round by a neighbour (torus_spread.h). */
#include <stdlib.h>
#include <string.h>

#include "node/node.h"
#include "torus_exchange.h"
#include "torus_spread.h"

/* So many messages of a node under way keep all links busy: on 8x8x6, 12 reach 89 % of the bisection bound when counted
   step by step, 24 reach 95 %. */
enum { TAG = FABRIC_DATA, AHEAD = 24 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return torus_applies(comm) && comm->topology.regular;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    double most = comm->topology.most, total = most * comm->topology.nodes * (double)shape->bytes;
    return torus_exchange_cost(comm, shape->bytes, comm->topology.nodes - 1, 1) +
           (most > 1 ? 3 * total * comm->costs.node_byte : total * comm->costs.node_byte / 2);
}

/* A message under way: what comes is taken apart when it is there. */
struct message {
    int offset; /* 0: none */
    MPI_Request requests[2];
    char *in; /* NULL: the block alone, straight to its place */
    char *out;
};

struct spread {
    struct coll_comm *comm;
    const struct torus *torus;
    int here, places;
    int64_t block;
    const char *send; /* blocks by place */
    char *receive;
    int *offsets;     /* in their order, without those half-way */
    int count;
    int *number_of;   /* offset -> its number in that order */
    int *stored_at;   /* offset -> where halves of blocks that go so far are stored, or -1 */
    char *stored;     /* two halves each */
    int64_t most;     /* bytes of the longest message */
    char *buffers;
    int ahead, finished; /* messages that have come, and been taken apart, in order */
    struct message messages[AHEAD];
};

static int64_t half_at(const struct spread *spread, int half)
{
    return half ? spread->block / 2 : 0;
}

static int64_t half_bytes(const struct spread *spread, int half)
{
    return half ? spread->block - spread->block / 2 : spread->block / 2;
}

static char *stored(const struct spread *spread, int offset, int half)
{
    return spread->stored + spread->stored_at[offset] * spread->block + half_at(spread, half);
}

/* Halves of own blocks that go by the neighbour at `offset`, copied to (or, of what comes, from) the message; the end. */
static char *bundle(const struct spread *spread, int offset, char *message, bool out)
{
    int half;
    unsigned dimensions = spread_bundle(spread->torus, offset, &half);
    for (int far = 1; dimensions != 0 && far < spread->places; far++) {
        if (spread_halfway(spread->torus, far) != dimensions)
            continue;
        const char *own = spread->send + torus_add(spread->torus, spread->here, far, 1) * spread->block;
        int64_t bytes = half_bytes(spread, half);
        if (out && message != NULL)
            memcpy(message, own + half_at(spread, half), (size_t)bytes);
        else if (message != NULL)
            memcpy(stored(spread, far, half), message, (size_t)bytes);
        message = message == NULL ? NULL : message + bytes;
    }
    return message;
}

static int64_t message_bytes(const struct spread *spread, int offset)
{
    struct spread_relayed relayed[SPREAD_PARTS];
    int half, count = spread_relayed(spread->torus, offset, relayed);
    int64_t bytes = spread->block;
    unsigned dimensions = spread_bundle(spread->torus, offset, &half);
    for (int far = 1; dimensions != 0 && far < spread->places; far++)
        bytes += spread_halfway(spread->torus, far) == dimensions ? half_bytes(spread, half) : 0;
    for (int i = 0; i < count; i++)
        bytes += half_bytes(spread, relayed[i].half);
    return bytes;
}

static void pack(const struct spread *spread, int offset, char *message)
{
    struct spread_relayed relayed[SPREAD_PARTS];
    int count = spread_relayed(spread->torus, offset, relayed);
    int to = torus_add(spread->torus, spread->here, offset, 1);
    memcpy(message, spread->send + to * spread->block, (size_t)spread->block);
    message = bundle(spread, offset, message + spread->block, true);
    for (int i = 0; i < count; i++) {
        int64_t bytes = half_bytes(spread, relayed[i].half);
        memcpy(message, stored(spread, relayed[i].offset, relayed[i].half), (size_t)bytes);
        message += bytes;
    }
}

static void unpack(const struct spread *spread, int offset, char *message)
{
    struct spread_relayed relayed[SPREAD_PARTS];
    int count = spread_relayed(spread->torus, offset, relayed);
    int from = torus_add(spread->torus, spread->here, offset, -1);
    memcpy(spread->receive + from * spread->block, message, (size_t)spread->block);
    message = bundle(spread, offset, message + spread->block, false);
    for (int i = 0; i < count; i++) {
        int begun = torus_add(spread->torus, from, relayed[i].from, 1);
        int64_t bytes = half_bytes(spread, relayed[i].half);
        memcpy(spread->receive + begun * spread->block + half_at(spread, relayed[i].half), message, (size_t)bytes);
        message += bytes;
    }
}

/* Until so many messages, in their order, have come and gone. */
static int finish(struct spread *spread, int until)
{
    int error = MPI_SUCCESS;
    for (; spread->finished < until && error == MPI_SUCCESS; spread->finished++) {
        struct message *message = &spread->messages[spread->finished % spread->ahead];
        error = fabric_wait(2, message->requests);
        if (error == MPI_SUCCESS && message->in != NULL)
            unpack(spread, message->offset, message->in);
    }
    return error;
}

static int begin(struct spread *spread, int number)
{
    const struct cuboid *cuboid = &spread->comm->topology.cuboid;
    struct spread_relayed relayed[SPREAD_PARTS];
    struct message *message = &spread->messages[number % spread->ahead];
    int offset = spread->offsets[number], local = spread->comm->topology.local;
    int count = spread_relayed(spread->torus, offset, relayed), needed = number + 1 - spread->ahead;
    for (int i = 0; i < count; i++) { /* what is sent on must have come: with the message of the opposite offset */
        int by = spread->number_of[torus_add(spread->torus, 0, relayed[i].from, -1)];
        needed = by + 1 > needed ? by + 1 : needed;
    }
    int error = finish(spread, needed);
    int to = torus_add(spread->torus, spread->here, offset, 1), from = torus_add(spread->torus, spread->here, offset, -1);
    int64_t bytes = message_bytes(spread, offset);
    char *buffer = spread->buffers + 2 * (number % spread->ahead) * spread->most;
    bool plain = bytes == spread->block;
    message->offset = offset;
    message->in = plain ? NULL : buffer;
    if (!plain)
        pack(spread, offset, buffer + spread->most);
    if (error == MPI_SUCCESS)
        error = fabric_start_receive(&spread->comm->fabric, plain ? spread->receive + from * spread->block : buffer, bytes,
                                     topology_rank(&spread->comm->topology, cuboid->node_at[from], local), TAG,
                                     &message->requests[0]);
    if (error == MPI_SUCCESS)
        error = fabric_start_send(&spread->comm->fabric,
                                  plain ? spread->send + to * spread->block : buffer + spread->most, bytes,
                                  topology_rank(&spread->comm->topology, cuboid->node_at[to], local), TAG,
                                  &message->requests[1]);
    return error;
}

/* The ranks of a node begin each stretch of the order at another point of it, so that together they load all directions.
   Not before the messages with halves to be sent on, which must come first. */
static void take_turns(struct spread *spread)
{
    int locals = spread->comm->topology.locals, begin = 0, half;
    int *copy = spread->number_of; /* is not needed yet */
    memcpy(copy, spread->offsets, (size_t)spread->count * sizeof *copy);
    for (int i = 0; i < spread->count; i++)
        begin = spread_bundle(spread->torus, spread->offsets[i], &half) != 0 ? i + 1 : begin;
    while (begin < spread->count) {
        int stretch = spread->count - begin < locals * spread->ahead ? spread->count - begin : locals * spread->ahead;
        for (int i = 0; i < stretch; i++)
            spread->offsets[begin + i] = copy[begin + (i + spread->comm->topology.local * spread->ahead) % stretch];
        begin += stretch;
    }
}

/* The order, what is stored, and the longest message. */
static bool prepare(struct spread *spread)
{
    int places = spread->places, stores = 0;
    spread->offsets = malloc(3 * (size_t)places * sizeof *spread->offsets);
    if (spread->offsets == NULL)
        return false;
    spread->number_of = spread->offsets + places;
    spread->stored_at = spread->number_of + places;
    spread_order(spread->torus, spread->offsets);
    for (int i = 0; i < places - 1; i++) {
        int offset = spread->offsets[i];
        bool far = spread_halfway(spread->torus, offset) != 0;
        spread->stored_at[offset] = far ? stores++ : -1;
        if (!far)
            spread->offsets[spread->count++] = offset;
    }
    spread->ahead = AHEAD / spread->comm->topology.locals > 2 ? AHEAD / spread->comm->topology.locals : 2;
    take_turns(spread);
    for (int i = 0; i < spread->count; i++) {
        int64_t bytes = message_bytes(spread, spread->offsets[i]);
        spread->most = bytes > spread->most ? bytes : spread->most;
        spread->number_of[spread->offsets[i]] = i;
    }
    char *memory = coll_scratch(spread->comm, SCRATCH_MORE, stores * spread->block + 2 * spread->ahead * spread->most + 1);
    spread->stored = memory;
    spread->buffers = memory + stores * spread->block;
    return memory != NULL;
}

/* Blocks by place, this rank's among all with its local number. */
static int spread_blocks(struct coll_comm *comm, int64_t block, const char *send, char *receive)
{
    const struct cuboid *cuboid = &comm->topology.cuboid;
    struct spread spread = {.comm = comm, .torus = &cuboid->torus, .here = cuboid->place_of[comm->topology.node],
                            .places = torus_places(&cuboid->torus), .block = block, .send = send, .receive = receive};
    int error = prepare(&spread) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    memcpy(receive + spread.here * block, send + spread.here * block, (size_t)block);
    for (int i = 0; i < spread.count && error == MPI_SUCCESS; i++)
        error = begin(&spread, i);
    if (error == MPI_SUCCESS)
        error = finish(&spread, spread.count);
    free(spread.offsets);
    return error;
}

/* Blocks by rank into blocks for each local number, by place: (local, place); or, `back`, what came from each place, of
   each of its ranks, to where it belongs. */
static void sort(const struct coll_comm *comm, const char *from, char *to, int64_t bytes, bool back)
{
    const struct topology *topology = &comm->topology;
    int locals = topology->locals, places = topology->nodes;
    for (int place = 0; place < places; place++)
        for (int local = 0; local < locals; local++) {
            int64_t rank = topology_rank(topology, topology->cuboid.node_at[place], local);
            if (back)
                memcpy(to + rank * bytes, from + ((int64_t)place * locals + local) * bytes, (size_t)bytes);
            else
                memcpy(to + ((int64_t)local * places + place) * bytes, from + rank * bytes, (size_t)bytes);
        }
}

/* What this rank is to send to its number on all nodes: (place, from whom on this node). */
static int gather(struct coll_comm *comm, char *sorted, char *by_sender, char *blocks, int64_t bytes)
{
    int locals = comm->topology.locals, places = comm->topology.nodes;
    int64_t each = bytes * places, *memory = malloc(2 * (size_t)locals * sizeof *memory);
    if (memory == NULL)
        return MPI_ERR_NO_MEM;
    for (int local = 0; local < locals; local++) {
        memory[local] = each;
        memory[locals + local] = each * local;
    }
    int error = node_alltoallv(comm, sorted, memory, memory + locals, by_sender, memory, memory + locals);
    free(memory);
    for (int place = 0; place < places; place++)
        for (int local = 0; local < locals; local++)
            memcpy(blocks + ((int64_t)place * locals + local) * bytes, by_sender + ((int64_t)local * places + place) * bytes,
                   (size_t)bytes);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    int locals = comm->topology.locals;
    int64_t all = call->bytes * comm->ranks;
    char *first = coll_scratch(comm, SCRATCH_WORK, all + 1), *second = coll_scratch(comm, SCRATCH_OTHER, all + 1);
    if (first == NULL || second == NULL)
        return MPI_ERR_NO_MEM;
    int error = MPI_SUCCESS;
    sort(comm, call->send, first, call->bytes, false);
    if (locals > 1) {
        error = gather(comm, first, second, call->receive, call->bytes);
        memcpy(first, call->receive, (size_t)all);
    }
    if (error == MPI_SUCCESS)
        error = spread_blocks(comm, call->bytes * locals, first, second);
    if (error == MPI_SUCCESS)
        sort(comm, second, call->receive, call->bytes, true);
    return error;
}

const struct algorithm alltoall_node_spread = {
    .name = "alltoall_node_spread",
    .collective = COLL_ALLTOALL,
    .meaning = "Sorted on the node by whom it goes to, then one block for each node, near nodes first, all nodes the same "
               "way at each step; half-way round a ring each half of a block goes another way, by a neighbour.",
    .reference = "document 002 (B5); Kumar et al., Optimization of all-to-all on the Blue Gene/L, ICPP 2008, for the bound",
    .applies = applies,
    .cost = cost,
    .run = run,
};
