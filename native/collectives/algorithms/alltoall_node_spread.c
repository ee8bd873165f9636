#include <stdlib.h>

#include "../group/scratch.h"
#include "torus/balanced.h"
#include "torus/exchange.h"
#include "torus/lanes.h"

/* So many messages of a node under way keep all links busy: on 8x8x6, 12 reach 89 % of the bisection bound when counted
   step by step, 24 reach 95 %. */
enum { TAG = FABRIC_DATA, AHEAD = BALANCED_AHEAD };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return torus_applies(comm) && comm->topology.regular;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return torus_exchange_cost(comm, shape->bytes, comm->topology.nodes - 1, 1) +
           torus_by_lanes_cost(comm, shape->bytes);
}

static int lane(struct coll_comm *comm, int64_t block, const char *send, char *receive)
{
    const struct cuboid *cuboid = &comm->topology.cuboid;
    int locals = comm->topology.locals, *ranks = torus_lane_ranks(comm);
    struct balanced balanced = {.comm = comm,
                                .torus = &cuboid->torus,
                                .here = cuboid->place_of[comm->topology.node],
                                .ranks = ranks,
                                .block = block,
                                .send = send,
                                .receive = receive,
                                .tag = TAG,
                                .ahead = AHEAD / locals > 2 ? AHEAD / locals : 2,
                                .turn = comm->topology.local,
                                .turns = locals};
    int64_t bytes = ranks == NULL ? -1 : balanced_plan(&balanced);
    char *room = bytes < 0 ? NULL : coll_scratch(comm, SCRATCH_MORE, bytes);
    int error = room == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (error == MPI_SUCCESS)
        balanced_begin(&balanced, room);
    for (int i = 0; i < balanced.count && error == MPI_SUCCESS; i++)
        error = balanced_step(&balanced);
    error = balanced_end(&balanced, error);
    free(ranks);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return torus_by_lanes(comm, call, lane);
}

const struct algorithm alltoall_node_spread = {
    .name = "alltoall_node_spread",
    .collective = COLL_ALLTOALL,
    .meaning =
        "Sorted on the node by whom it goes to, then one block for each node, near nodes first, all nodes the same "
        "way at each step; half-way round a ring each half of a block goes another way, by a neighbour.",
    .reference =
        "Fujitsu (2014); Kumar et al., Optimization of all-to-all on the Blue Gene/L, ICPP 2008, for the bound",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_thrice,
    .run = run,
};
