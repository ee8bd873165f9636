#include <stdlib.h>
#include <string.h>

#include "../group/cost.h"
#include "../node/node.h"
#include "allgather.h"

enum { TAG = FABRIC_SECOND };

struct gathering {
    struct coll_comm *comm;
    const struct call *call;
    const struct torus *torus;
    int root; /* rank 0's place */
    /* By place as seen from the root: the first `seen_at[i]` bytes are of places before i. */
    int64_t *seen_at;
    char *gathered;
};

static int node_seen(const struct gathering *gathering, int seen)
{
    const struct cuboid *cuboid = &gathering->comm->topology.cuboid;
    return cuboid->node_at[torus_add(gathering->torus, gathering->root, seen, 1)];
}

/* The blocks of this node, one after the other, at its leader's place in `gathered`. */
static int on_node(struct gathering *gathering, int seen)
{
    struct coll_comm *comm = gathering->comm;
    const struct topology *topology = &comm->topology;
    int locals = topology->locals;
    char *mine = gathering->gathered + gathering->seen_at[seen];
    if (locals == 1) {
        if (mine != gathering->call->send)
            memcpy(mine, gathering->call->send, (size_t)allgather_bytes(gathering->call, comm->rank));
        return MPI_SUCCESS;
    }
    int64_t *bytes = malloc(2 * (size_t)locals * sizeof *bytes), next = 0;
    if (bytes == NULL)
        return MPI_ERR_NO_MEM;
    for (int local = 0; local < locals; local++) {
        bytes[local] = allgather_bytes(gathering->call, topology_rank(topology, topology->node, local));
        bytes[locals + local] = next;
        next += bytes[local];
    }
    int error = node_gather(comm, 0, gathering->call->send, mine, 0, bytes, bytes + locals);
    free(bytes);
    return error;
}

/* Along one dimension to the place that has the root's coordinate there: places of lower dimensions have been gathered, so
   that each message is one stretch. Near ones first. */
static int along(struct gathering *gathering, int seen, int dimension)
{
    const struct torus *torus = gathering->torus;
    int at[TORUS_MOST], width = 1, extent = torus->extent[dimension], error = MPI_SUCCESS;
    torus_at(torus, seen, at);
    for (int d = 0; d < dimension; d++) {
        if (at[d] != 0)
            return MPI_SUCCESS; /* has handed on what it had */
        width *= torus->extent[d];
    }
    if (at[dimension] != 0) {
        int to = seen - at[dimension] * width;
        int64_t from = gathering->seen_at[seen];
        return fabric_send(&gathering->comm->fabric, gathering->gathered + from,
                           gathering->seen_at[seen + width] - from,
                           topology_rank(&gathering->comm->topology, node_seen(gathering, to), 0), TAG);
    }
    MPI_Request *requests = malloc((size_t)extent * sizeof *requests);
    if (requests == NULL)
        return MPI_ERR_NO_MEM;
    int count = 0;
    for (int x = 1; x < extent && error == MPI_SUCCESS; x++) {
        int far = (x + 1) / 2, other = seen + (x % 2 ? far : extent - far) * width;
        int64_t from = gathering->seen_at[other];
        error = fabric_start_receive(
            &gathering->comm->fabric, gathering->gathered + from, gathering->seen_at[other + width] - from,
            topology_rank(&gathering->comm->topology, node_seen(gathering, other), 0), TAG, &requests[count]);
        count += error == MPI_SUCCESS;
    }
    int waited = fabric_wait(&gathering->comm->fabric, count, requests);
    free(requests);
    return error == MPI_SUCCESS ? waited : error;
}

/* Ranks of a node, from this place on, that follow one another. */
static int together(const struct topology *topology, int node, int local)
{
    int count = 1, locals = topology_locals(topology, node), rank = topology_rank(topology, node, local);
    while (local + count < locals && topology_rank(topology, node, local + count) == rank + count)
        count++;
    return count;
}

/* Whether the order of places is that of ranks. */
static bool sorted(const struct gathering *gathering)
{
    const struct topology *topology = &gathering->comm->topology;
    int next = 0;
    for (int seen = 0; seen < topology->nodes; seen++) {
        int node = node_seen(gathering, seen);
        if (topology_rank(topology, node, 0) != next || together(topology, node, 0) != topology_locals(topology, node))
            return false;
        next += topology_locals(topology, node);
    }
    return true;
}

/* At rank 0: from the order of places to that of ranks. */
static void sort(const struct gathering *gathering, const int64_t *packed_at, char *packed)
{
    const struct topology *topology = &gathering->comm->topology;
    for (int seen = 0; seen < topology->nodes; seen++) {
        int node = node_seen(gathering, seen);
        const char *from = gathering->gathered + gathering->seen_at[seen];
        for (int local = 0, count; local < topology_locals(topology, node); local += count) {
            int rank = topology_rank(topology, node, local);
            count = together(topology, node, local);
            int64_t bytes = packed_at[rank + count] - packed_at[rank];
            memcpy(packed + packed_at[rank], from, (size_t)bytes);
            from += bytes;
        }
    }
}

/* Where the ranks' blocks are when there is nothing between them; whether that is where they are to be. */
static bool pack(const struct coll_comm *comm, const struct call *call, int64_t *packed_at)
{
    bool packed = true;
    packed_at[0] = 0;
    for (int rank = 0; rank < comm->ranks; rank++) {
        packed = packed && allgather_at(call, rank) == packed_at[rank];
        packed_at[rank + 1] = packed_at[rank] + allgather_bytes(call, rank);
    }
    return packed;
}

int torus_gather_bcast(struct coll_comm *comm, const struct call *call, struct torus_way way, int64_t segment)
{
    const struct topology *topology = &comm->topology;
    struct gathering gathering = {.comm = comm,
                                  .call = call,
                                  .torus = &topology->cuboid.torus,
                                  .root = topology->cuboid.place_of[topology->node_of[0]]};
    int ranks = comm->ranks, error = MPI_SUCCESS;
    int64_t *packed_at = malloc(((size_t)ranks + (size_t)topology->nodes + 2) * sizeof *packed_at);
    if (packed_at == NULL)
        return MPI_ERR_NO_MEM;
    gathering.seen_at = packed_at + ranks + 1;
    bool straight = pack(comm, call, packed_at);
    gathering.seen_at[0] = 0;
    for (int seen = 0; seen < topology->nodes; seen++) {
        int node = node_seen(&gathering, seen);
        gathering.seen_at[seen + 1] = gathering.seen_at[seen];
        for (int local = 0; local < topology_locals(topology, node); local++)
            gathering.seen_at[seen + 1] += allgather_bytes(call, topology_rank(topology, node, local));
    }
    int seen = torus_add(gathering.torus, topology->cuboid.place_of[topology->node], gathering.root, -1);
    char *packed = straight ? call->receive : coll_scratch(comm, SCRATCH_OTHER, packed_at[ranks] + 1);
    bool in_place = comm->rank == 0 && sorted(&gathering);
    gathering.gathered = in_place ? packed : coll_scratch(comm, SCRATCH_WORK, packed_at[ranks] + 1);
    if (packed == NULL || gathering.gathered == NULL)
        error = MPI_ERR_NO_MEM;
    if (error == MPI_SUCCESS)
        error = on_node(&gathering, seen);
    for (int d = 0; d < gathering.torus->dimensions && error == MPI_SUCCESS && topology->local == 0; d++)
        error = along(&gathering, seen, d);
    if (error == MPI_SUCCESS && comm->rank == 0 && !in_place)
        sort(&gathering, packed_at, packed);
    if (error == MPI_SUCCESS && packed_at[ranks] > 0)
        error = torus_bcast(comm, way, 0, packed, packed_at[ranks], segment);
    for (int rank = 0; rank < ranks && error == MPI_SUCCESS && !straight; rank++)
        memcpy((char *)call->receive + allgather_at(call, rank), packed + packed_at[rank],
               (size_t)allgather_bytes(call, rank));
    free(packed_at);
    return error;
}

double torus_gather_bcast_cost(const struct coll_comm *comm, struct torus_way way, int64_t bytes, int64_t segment)
{
    const struct torus *torus = &comm->topology.cuboid.torus;
    double total = (double)bytes * comm->ranks, messages = 0;
    for (int d = 0; d < torus->dimensions; d++)
        messages += torus->extent[d] - 1;
    /* The last dimension brings nearly everything, by two links. */
    return messages * cost_neighbour(&comm->costs) + total / 2 * comm->costs.fabric_byte +
           total / comm->topology.nodes * comm->costs.node_byte + total * comm->costs.node_byte +
           torus_bcast_cost(comm, way, (int64_t)total, segment);
}
