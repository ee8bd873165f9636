#include "../group/exchange_counts.h"
#include "../group/nodes.h"

/* Bytes that a node has under way, each way. More only fills queues: those of a switch, where several senders meet, and
   those of a connection, where what must come soon waits behind what need not. */
static const int64_t under_way = 128 << 10;
enum { SLOTS = 16 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return nodes_several(comm);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    int away = comm->ranks - comm->topology.most;
    return cost_fabric_shared(comm, away / 2.0 + 1, (double)shape->bytes * away * comm->topology.most) +
           cost_node(comm, (double)shape->bytes * comm->topology.most) / 4;
}

static double cost_v(const struct coll_comm *comm, const struct shape *shape)
{
    return counts_cost(comm, shape, cost);
}

/* One way: the first pieces for, or from, the ranks of other nodes in the order of the steps, then the second ones. All
   links are loaded alike until the end so, also where blocks differ in size. */
struct way {
    const struct topology *topology;
    struct blocks blocks;
    int64_t segment, largest;  /* block */
    int direction, step, rank; /* 1: out; the partner of this step, -1: no more */
    int64_t at;                /* in all blocks: what is before it has been begun or is not there */
    int64_t begun, finished;   /* bytes */
    int64_t sizes[SLOTS];      /* of what is under way; 0: a free slot */
};

static int64_t piece_at(const struct way *way, int rank, int64_t at)
{
    int64_t left = rank < 0 ? 0 : blocks_bytes(&way->blocks, rank) - at;
    return left < 0 ? 0 : left < way->segment ? left : way->segment;
}

static int64_t next_bytes(const struct way *way)
{
    return piece_at(way, way->rank, way->at);
}

static bool has_more(const struct way *way)
{
    return way->at < way->largest;
}

static void next_place(struct way *way)
{
    way->step++;
    if (way->step == nodes_partner_steps(way->topology)) {
        way->step = 0;
        way->at += way->segment;
    }
    way->rank = nodes_partner(way->topology, way->step, way->direction);
}

static struct way way_from(const struct coll_comm *comm, struct blocks blocks, int64_t segment, int direction)
{
    struct way way = {.topology = &comm->topology, .blocks = blocks, .segment = segment, .direction = direction};
    for (int step = 0; step < nodes_partner_steps(way.topology); step++) {
        int rank = nodes_partner(way.topology, step, direction);
        if (rank >= 0 && blocks_bytes(&blocks, rank) > way.largest)
            way.largest = blocks_bytes(&blocks, rank);
    }
    way.rank = nodes_partner(way.topology, 0, direction);
    return way;
}

/* -1: none. */
static int free_slot(const struct way *way)
{
    for (int i = 0; i < SLOTS; i++)
        if (way->sizes[i] == 0)
            return i;
    return -1;
}

static void take_slot(struct way *way, int slot, int64_t bytes)
{
    way->sizes[slot] = bytes;
    way->begun += bytes;
    next_place(way);
}

static void give_back(struct way *way, int slot)
{
    way->finished += way->sizes[slot];
    way->sizes[slot] = 0;
}

struct pace {
    struct coll_comm *comm;
    const struct call *call;
    struct way out, in;
    int64_t limit; /* bytes under way */
    int64_t due;   /* bytes that come in places before that of the next piece to leave */
    MPI_Request requests[2 * SLOTS]; /* in, out */
};

/* To the next place that has something. */
static bool find_next(struct pace *pace, struct way *way)
{
    for (; has_more(way) && next_bytes(way) == 0; next_place(way))
        if (way == &pace->out)
            pace->due += piece_at(&pace->in, nodes_partner(way->topology, way->step, -1), way->at);
    return has_more(way);
}

/* Whether the next piece may leave: not many bytes before what has come, unless they are so by the sizes alone. What has
   to have come is of earlier places in the order, so that whatever is first in it of all that has not come can always be
   sent: there is no deadlock, whatever the sizes are. */
static bool may_leave(const struct pace *pace)
{
    const struct way *out = &pace->out;
    int64_t open = out->begun - out->finished, needed = out->begun < pace->due ? out->begun : pace->due;
    return (open == 0 || open + next_bytes(out) <= pace->limit) && needed <= pace->in.finished + pace->limit;
}

static int receive_more(struct pace *pace)
{
    struct way *in = &pace->in;
    int error = MPI_SUCCESS;
    for (int slot; error == MPI_SUCCESS && find_next(pace, in) && (slot = free_slot(in)) >= 0;) {
        char *to = (char *)pace->call->receive + blocks_at(&in->blocks, in->rank) + in->at;
        int64_t bytes = next_bytes(in);
        error = fabric_start_receive(&pace->comm->fabric, to, bytes, in->rank, FABRIC_DATA, &pace->requests[slot]);
        take_slot(in, slot, bytes);
    }
    return error;
}

static int send_more(struct pace *pace)
{
    struct way *out = &pace->out;
    int error = MPI_SUCCESS;
    for (int slot; error == MPI_SUCCESS && find_next(pace, out) && (slot = free_slot(out)) >= 0 && may_leave(pace);) {
        const char *from = (const char *)pace->call->send + blocks_at(&out->blocks, out->rank) + out->at;
        int64_t bytes = next_bytes(out);
        error = fabric_start_send(&pace->comm->fabric, from, bytes, out->rank, FABRIC_DATA, &pace->requests[SLOTS + slot]);
        pace->due += piece_at(&pace->in, nodes_partner(out->topology, out->step, -1), out->at);
        take_slot(out, slot, bytes);
    }
    return error;
}

/* The node's own blocks are exchanged while the first pieces are under way, before anybody waits for another node. */
static int exchange(struct pace *pace, int64_t *room)
{
    int which = 0, error = receive_more(pace);
    if (error == MPI_SUCCESS)
        error = send_more(pace);
    if (error == MPI_SUCCESS)
        error = exchange_on_node(pace->comm, pace->call, room);
    while (error == MPI_SUCCESS) {
        error = fabric_wait_any(2 * SLOTS, pace->requests, &which);
        if (which < 0)
            break;
        give_back(which < SLOTS ? &pace->in : &pace->out, which % SLOTS);
        if (error == MPI_SUCCESS && which < SLOTS)
            error = receive_more(pace);
        if (error == MPI_SUCCESS)
            error = send_more(pace);
    }
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    int64_t share = under_way / comm->topology.most;
    struct pace pace = {.comm = comm, .call = call, .limit = share > 2 * segment ? share : 2 * segment};
    pace.out = way_from(comm, counts_send(call), segment, 1);
    pace.in = way_from(comm, counts_receive(call), segment, -1);
    for (int i = 0; i < 2 * SLOTS; i++)
        pace.requests[i] = MPI_REQUEST_NULL;
    int64_t *room = malloc(4 * (size_t)comm->topology.locals * sizeof *room);
    int error = room == NULL ? MPI_ERR_NO_MEM : exchange(&pace, room);
    free(room);
    return error;
}

static const char meaning[] =
    "Messages to the ranks of other nodes, cut into pieces, in turn to all nodes, of which few are under way at a time.";

const struct algorithm alltoall_paced = {
    .name = "alltoall_paced",
    .collective = COLL_ALLTOALL,
    .meaning = meaning,
    .reference = "",
    .segment = 32 << 10,
    .applies = applies,
    .cost = cost,
    .run = run,
};

const struct algorithm alltoallv_paced = {
    .name = "alltoallv_paced",
    .collective = COLL_ALLTOALLV,
    .meaning = meaning,
    .reference = "",
    .segment = 32 << 10,
    .applies = applies,
    .cost = cost_v,
    .run = run,
};
