#include "exchange.h"

#include <stdlib.h>

#include "../node/node.h"
#include "spread.h"

enum { AHEAD = 16 }; /* at most so many exchanges under way in one process */

/* Exchange `number`: whom with. */
struct partners {
    int to, from;
};

struct order {
    const struct coll_comm *comm;
    const int *offsets;
    int count;   /* of them */
    int stretch; /* offsets that the ranks of a node go through together, each beginning with another */
};

/* The offset that a local rank has at this point: where the ranks of a node would all send the same way, and so over the
   same links, they take turns instead. */
static int offset_at(const struct order *order, int begin, int step, int local)
{
    int stretch = order->count - begin < order->stretch ? order->count - begin : order->stretch;
    return order->offsets[begin + (step + local) % stretch];
}

static struct partners partners_at(const struct order *order, int64_t number)
{
    const struct topology *topology = &order->comm->topology;
    const struct cuboid *cuboid = &topology->cuboid;
    /* Stretch by stretch; in one, each turn (how far on from its own number the partner's is) goes through all offsets. */
    int here = cuboid->place_of[topology->node], locals = topology->locals;
    int begin = (int)(number / ((int64_t)order->stretch * locals)) * order->stretch;
    int width = order->count - begin < order->stretch ? order->count - begin : order->stretch;
    int rest = (int)(number - (int64_t)begin * locals), turn = rest / width;
    int local_from = (topology->local - turn + locals) % locals;
    int to = torus_add(&cuboid->torus, here, offset_at(order, begin, rest % width, topology->local), 1);
    int from = torus_add(&cuboid->torus, here, offset_at(order, begin, rest % width, local_from), -1);
    return (struct partners){topology_rank(topology, cuboid->node_at[to], (topology->local + turn) % locals),
                             topology_rank(topology, cuboid->node_at[from], local_from)};
}

/* `ahead` exchanges at a time; a new one begins when the oldest has ended, so that all ranks stay at the same step. */
static int exchange(struct coll_comm *comm, const struct call *call, const struct order *order, int64_t count,
                    int ahead)
{
    MPI_Request requests[AHEAD][2];
    int error = MPI_SUCCESS;
    for (int i = 0; i < AHEAD; i++)
        requests[i][0] = requests[i][1] = MPI_REQUEST_NULL;
    for (int64_t number = 0; number < count && error == MPI_SUCCESS; number++) {
        MPI_Request *both = requests[number % ahead];
        struct partners with = partners_at(order, number);
        error = fabric_wait(&comm->fabric, 2, both);
        if (error == MPI_SUCCESS)
            error = fabric_start_receive(
                &comm->fabric, (char *)call->receive + alltoall_at(call, call->receive_at, with.from),
                alltoall_bytes(call, call->receive_bytes, with.from), with.from, FABRIC_DATA, &both[0]);
        if (error == MPI_SUCCESS)
            error =
                fabric_start_send(&comm->fabric, (const char *)call->send + alltoall_at(call, call->send_at, with.to),
                                  alltoall_bytes(call, call->send_bytes, with.to), with.to, FABRIC_DATA, &both[1]);
    }
    int waited = fabric_wait(&comm->fabric, 2 * AHEAD, requests[0]);
    return error == MPI_SUCCESS ? waited : error;
}

/* Among the ranks of the node. */
static int at_home(struct coll_comm *comm, const struct call *call)
{
    const struct topology *topology = &comm->topology;
    int locals = topology->locals;
    int64_t *memory = malloc(4 * (size_t)locals * sizeof *memory);
    if (memory == NULL)
        return MPI_ERR_NO_MEM;
    for (int local = 0; local < locals; local++) {
        int rank = topology_rank(topology, topology->node, local);
        memory[local] = alltoall_bytes(call, call->send_bytes, rank);
        memory[locals + local] = alltoall_at(call, call->send_at, rank);
        memory[2 * locals + local] = alltoall_bytes(call, call->receive_bytes, rank);
        memory[3 * locals + local] = alltoall_at(call, call->receive_at, rank);
    }
    int error = node_alltoallv(comm, call->send, memory, memory + locals, call->receive, memory + 2 * locals,
                               memory + 3 * locals);
    free(memory);
    return error;
}

int torus_exchange(struct coll_comm *comm, const struct call *call, enum spread_kind kind)
{
    const struct torus *torus = &comm->topology.cuboid.torus;
    int places = torus_places(torus), *offsets = malloc((size_t)places * sizeof *offsets);
    if (offsets == NULL)
        return MPI_ERR_NO_MEM;
    (kind == SPREAD_DOUBLE ? spread_order_double : spread_order)(torus, offsets);
    /* One start a process, or two that go opposite ways; more where a node has too few processes for its ports. */
    int starts = kind == SPREAD_DOUBLE ? 2 : 1, ports = 2 * torus->dimensions;
    int ahead = (ports + comm->topology.locals - 1) / comm->topology.locals;
    ahead = ahead > starts ? ahead : starts;
    struct order order = {comm, offsets, places - 1, comm->topology.locals > ahead ? comm->topology.locals : ahead};
    int error = at_home(comm, call);
    if (error == MPI_SUCCESS)
        error = exchange(comm, call, &order, (int64_t)(places - 1) * comm->topology.locals, ahead);
    free(offsets);
    return error;
}

double torus_exchange_cost(const struct coll_comm *comm, int64_t bytes, double messages, double detour)
{
    const struct torus *torus = &comm->topology.cuboid.torus;
    double most = comm->topology.most, injected = most * most * comm->topology.nodes * (double)bytes, middle = 0;
    for (int d = 0; d < torus->dimensions; d++) {
        double share = torus->extent[d] / (torus->wraps[d] ? 8.0 : 4.0);
        middle = share > middle ? share : middle;
    }
    double ports = injected / (2.0 * torus->dimensions);
    return messages * comm->costs.fabric_latency +
           (ports > middle * injected ? ports : middle * injected) * detour * comm->costs.fabric_byte +
           most * (double)bytes * comm->costs.node_byte;
}
