#include "measure.h"

#include <stdlib.h>

#include "node/node.h"
#include "state.h"

enum { ROUNDS = 16, LONG_ROUNDS = 4, LONG_BYTES = 128 << 10 };

/* The quickest of some rounds is what the machine can do; the first ones are slower. */
static double least(double (*round)(struct coll_comm *, void *, int64_t), struct coll_comm *comm, void *room,
                    int64_t bytes, int rounds)
{
    double found = 1;
    for (int i = 0; i < rounds; i++) {
        double seconds = round(comm, room, bytes);
        found = seconds < found ? seconds : found;
    }
    return found;
}

static double meet(struct coll_comm *comm, void *room, int64_t bytes)
{
    (void)room, (void)bytes;
    double start = PMPI_Wtime();
    node_barrier(comm);
    return PMPI_Wtime() - start;
}

static double pass(struct coll_comm *comm, void *room, int64_t bytes)
{
    node_barrier(comm);
    double start = PMPI_Wtime();
    node_bcast(comm, 0, room, bytes);
    node_barrier(comm);
    return PMPI_Wtime() - start;
}

/* Between the first ranks of the first two nodes. */
static double send(struct coll_comm *comm, void *room, int64_t bytes)
{
    double start = PMPI_Wtime();
    int peer = topology_rank(&comm->topology, 1 - comm->topology.node, 0);
    fabric_exchange(&comm->fabric, room, bytes, peer, (char *)room + LONG_BYTES, bytes, peer, FABRIC_SETUP);
    return PMPI_Wtime() - start;
}

static void measure(struct coll_comm *comm, void *room, struct costs *costs)
{
    const struct topology *topology = &comm->topology;
    if (topology->most > 1) {
        costs->node_latency = least(meet, comm, NULL, 0, ROUNDS);
        double seconds = least(pass, comm, room, LONG_BYTES, LONG_ROUNDS) - 2 * costs->node_latency;
        if (seconds > 0)
            costs->node_byte = seconds / LONG_BYTES;
        /* Messages within a node are copied into its memory and out of it: what is usual of a network is not theirs, and
           would make them look better than our own shared memory. */
        if (topology->nodes == 1 && costs->fabric_byte < 2 * costs->node_byte)
            costs->fabric_byte = 2 * costs->node_byte;
    }
    if (topology->nodes > 1 && topology->node < 2 && topology->local == 0) {
        costs->fabric_latency = least(send, comm, room, 8, ROUNDS);
        double seconds = least(send, comm, room, LONG_BYTES, LONG_ROUNDS) - costs->fabric_latency;
        if (seconds > 0)
            costs->fabric_byte = seconds / LONG_BYTES;
    }
}

bool measure_costs(struct costs *costs)
{
    struct state *world = state_now(MPI_COMM_WORLD);
    if (world == NULL || !state_equip(world))
        return false;
    *costs = world->ours->costs;
    void *room = calloc(2, LONG_BYTES);
    if (room == NULL)
        PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); /* the others would wait for ever */
    measure(world->ours, room, costs);
    free(room);
    PMPI_Bcast(costs, sizeof *costs, MPI_BYTE, 0, world->ours->comm);
    world->ours->costs = *costs;
    return true;
}
