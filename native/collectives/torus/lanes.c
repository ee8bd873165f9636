#include "lanes.h"

#include <stdlib.h>
#include <string.h>

#include "../node/node.h"

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
            memcpy(blocks + ((int64_t)place * locals + local) * bytes,
                   by_sender + ((int64_t)local * places + place) * bytes, (size_t)bytes);
    return error;
}

/* Whether the order of ranks is that of places, one rank at each. */
static bool sorted(const struct coll_comm *comm)
{
    const struct topology *topology = &comm->topology;
    bool sorted = topology->most == 1;
    for (int place = 0; place < topology->nodes && sorted; place++)
        sorted = topology_rank(topology, topology->cuboid.node_at[place], 0) == place;
    return sorted;
}

int torus_by_lanes(struct coll_comm *comm, const struct call *call, torus_lane *lane)
{
    int locals = comm->topology.locals;
    if (sorted(comm))
        return lane(comm, call->bytes, call->send, call->receive);
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
        error = lane(comm, call->bytes * locals, first, second);
    if (error == MPI_SUCCESS)
        sort(comm, second, call->receive, call->bytes, true);
    return error;
}

double torus_by_lanes_cost(const struct coll_comm *comm, int64_t bytes)
{
    double all = (double)bytes * comm->ranks * comm->costs.node_byte;
    /* Sorted twice; among the ranks of a node, written and read, and sorted once more. */
    return comm->topology.most > 1 ? 5 * all + 2 * comm->costs.node_latency : 2 * all;
}

int *torus_lane_ranks(const struct coll_comm *comm)
{
    const struct topology *topology = &comm->topology;
    int *ranks = malloc((size_t)topology->nodes * sizeof *ranks);
    for (int place = 0; ranks != NULL && place < topology->nodes; place++)
        ranks[place] = topology_rank(topology, topology->cuboid.node_at[place], topology->local);
    return ranks;
}
