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
   links are loaded alike until the end so, also where blocks differ in size. Steps whose blocks are done with are left
   out, so that going through all pieces takes time in proportion to the partners and the pieces. */
struct way {
    const struct topology *topology;
    struct blocks blocks;
    int64_t segment;
    int direction;           /* 1: out */
    int *steps, count, kept; /* those with more at `at`; of those before `index`, with more after it */
    int index;               /* in `steps`: what is next */
    int64_t at;              /* in all blocks: what is before it has been begun or is not there */
    int64_t begun, finished; /* bytes */
    int64_t sizes[SLOTS];    /* of what is under way; 0: a free slot */
};

static bool has_more(const struct way *way)
{
    return way->index < way->count;
}

static int next_rank(const struct way *way)
{
    return nodes_partner(way->topology, way->steps[way->index], way->direction);
}

static int64_t next_bytes(const struct way *way)
{
    int64_t left = blocks_bytes(&way->blocks, next_rank(way)) - way->at;
    return left < way->segment ? left : way->segment;
}

static void next_place(struct way *way)
{
    if (blocks_bytes(&way->blocks, next_rank(way)) > way->at + way->segment)
        way->steps[way->kept++] = way->steps[way->index];
    if (++way->index == way->count) {
        way->count = way->kept;
        way->index = way->kept = 0;
        way->at += way->segment;
    }
}

/* Whether the next place of `a` comes before that of `b`; both have one. */
static bool is_before(const struct way *a, const struct way *b)
{
    return a->at < b->at || (a->at == b->at && a->steps[a->index] < b->steps[b->index]);
}

/* `steps`: room for one number for each step. */
static struct way way_from(const struct coll_comm *comm, struct blocks blocks, int64_t segment, int direction,
                           int *steps)
{
    struct way way = {
        .topology = &comm->topology, .blocks = blocks, .segment = segment, .direction = direction, .steps = steps};
    for (int step = 0; step < nodes_partner_steps(way.topology); step++) {
        int rank = nodes_partner(way.topology, step, direction);
        if (rank >= 0 && blocks_bytes(&blocks, rank) > 0)
            steps[way.count++] = step;
    }
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
    struct way expected;             /* as `in`, up to the place of the next piece to leave */
    int64_t limit;                   /* bytes under way */
    int64_t due;                     /* bytes that come in places before that of the next piece to leave */
    MPI_Request requests[2 * SLOTS]; /* in, out */
};

static void add_due(struct pace *pace)
{
    for (struct way *in = &pace->expected; has_more(in) && is_before(in, &pace->out); next_place(in))
        pace->due += next_bytes(in);
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
    for (int slot; error == MPI_SUCCESS && has_more(in) && (slot = free_slot(in)) >= 0;) {
        int rank = next_rank(in);
        char *to = (char *)pace->call->receive + blocks_at(&in->blocks, rank) + in->at;
        int64_t bytes = next_bytes(in);
        error = fabric_start_receive(&pace->comm->fabric, to, bytes, rank, FABRIC_DATA, &pace->requests[slot]);
        take_slot(in, slot, bytes);
    }
    return error;
}

static int send_more(struct pace *pace)
{
    struct way *out = &pace->out;
    int error = MPI_SUCCESS;
    for (int slot; error == MPI_SUCCESS && has_more(out) && (slot = free_slot(out)) >= 0;) {
        add_due(pace);
        if (!may_leave(pace))
            break;
        int rank = next_rank(out);
        const char *from = (const char *)pace->call->send + blocks_at(&out->blocks, rank) + out->at;
        int64_t bytes = next_bytes(out);
        error = fabric_start_send(&pace->comm->fabric, from, bytes, rank, FABRIC_DATA, &pace->requests[SLOTS + slot]);
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
        error = fabric_wait_any(&pace->comm->fabric, 2 * SLOTS, pace->requests, &which);
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
    size_t steps = (size_t)nodes_partner_steps(&comm->topology);
    int *places = malloc((3 * steps + 1) * sizeof *places);
    int64_t *room = malloc(4 * (size_t)comm->topology.locals * sizeof *room);
    int error = places == NULL || room == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (error == MPI_SUCCESS) {
        pace.out = way_from(comm, counts_send(call), segment, 1, places);
        pace.in = way_from(comm, counts_receive(call), segment, -1, places + steps);
        pace.expected = way_from(comm, counts_receive(call), segment, -1, places + 2 * steps);
    }
    for (int i = 0; i < 2 * SLOTS; i++)
        pace.requests[i] = MPI_REQUEST_NULL;
    if (error == MPI_SUCCESS)
        error = exchange(&pace, room);
    free(places);
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
