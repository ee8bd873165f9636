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
    return cost_fabric(comm, away / 4.0 + 1, (double)shape->bytes * away * comm->topology.most) +
           cost_node(comm, (double)shape->bytes * comm->topology.most) / 4;
}

/* One way: the pieces for, or from, the ranks of other nodes in the order of the steps. */
struct way {
    const struct topology *topology;
    struct blocks blocks;
    int64_t segment;
    int direction, step, rank; /* 1: out; the partner of this step, -1: none */
    int64_t in_step, begun;    /* bytes that were begun, of this step's and of all */
    int64_t finished;
    int64_t sizes[SLOTS];      /* of what is under way; 0: a free slot */
};

static int64_t bytes_at(const struct way *way, int step)
{
    int rank = nodes_partner(way->topology, step, way->direction);
    return rank < 0 ? 0 : blocks_bytes(&way->blocks, rank);
}

static bool has_more(const struct way *way)
{
    return way->step < nodes_partner_steps(way->topology);
}

/* On to the next step that has something, once this one's has been begun. */
static void settle(struct way *way)
{
    while (has_more(way) && way->in_step >= bytes_at(way, way->step)) {
        way->step++;
        way->in_step = 0;
    }
    way->rank = has_more(way) ? nodes_partner(way->topology, way->step, way->direction) : -1;
}

static struct way way_from(const struct coll_comm *comm, struct blocks blocks, int64_t segment, int direction)
{
    struct way way = {.topology = &comm->topology, .blocks = blocks, .segment = segment, .direction = direction};
    settle(&way);
    return way;
}

static int64_t next_bytes(const struct way *way)
{
    int64_t left = blocks_bytes(&way->blocks, way->rank) - way->in_step;
    return left < way->segment ? left : way->segment;
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
    way->in_step += bytes;
    way->begun += bytes;
    settle(way);
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
    int64_t limit;       /* bytes under way */
    int counted;         /* steps whose incoming bytes are in `before` */
    int64_t before;      /* bytes that come in the steps before the one that is being sent */
    MPI_Request requests[2 * SLOTS]; /* in, out */
};

/* Whether the next piece may leave: not many bytes before what has come, unless they are so by the sizes alone. What has
   to have come is of earlier steps, or earlier in this one, so that whatever is first in this order of all that has not
   come can always be sent: there is no deadlock, whatever the sizes are. */
static bool may_leave(struct pace *pace)
{
    const struct way *out = &pace->out;
    int64_t open = out->begun - out->finished;
    if (open > 0 && open + next_bytes(out) > pace->limit)
        return false;
    for (; pace->counted < out->step; pace->counted++)
        pace->before += bytes_at(&pace->in, pace->counted);
    int64_t comes = bytes_at(&pace->in, out->step), due = pace->before + (out->in_step < comes ? out->in_step : comes);
    return (out->begun < due ? out->begun : due) <= pace->in.finished + pace->limit;
}

static int receive_more(struct pace *pace)
{
    struct way *in = &pace->in;
    int error = MPI_SUCCESS;
    for (int slot; error == MPI_SUCCESS && has_more(in) && (slot = free_slot(in)) >= 0;) {
        char *to = (char *)pace->call->receive + blocks_at(&in->blocks, in->rank) + in->in_step;
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
    for (int slot; error == MPI_SUCCESS && has_more(out) && (slot = free_slot(out)) >= 0 && may_leave(pace);) {
        const char *from = (const char *)pace->call->send + blocks_at(&out->blocks, out->rank) + out->in_step;
        int64_t bytes = next_bytes(out);
        error = fabric_start_send(&pace->comm->fabric, from, bytes, out->rank, FABRIC_DATA, &pace->requests[SLOTS + slot]);
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

const struct algorithm alltoall_paced = {
    .name = "alltoall_paced",
    .collective = COLL_ALLTOALL,
    .meaning = "Messages to the ranks of other nodes, node by node, cut into pieces of which few are under way at a time.",
    .reference = "",
    .segment = 32 << 10,
    .applies = applies,
    .cost = cost,
    .run = run,
};

const struct algorithm alltoallv_paced = {
    .name = "alltoallv_paced",
    .collective = COLL_ALLTOALLV,
    .meaning = "Messages to the ranks of other nodes, node by node, cut into pieces of which few are under way at a time.",
    .reference = "",
    .segment = 32 << 10,
    .applies = applies,
    .cost = cost,
    .run = run,
};
