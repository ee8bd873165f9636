#include "allreduce.h"

#include <stdlib.h>
#include <string.h>

#include "../node/node.h"

void torus_slices(int64_t count, int slices, int drivers, int locals, int64_t *at)
{
    at[0] = 0;
    for (int local = 0; local < locals; local++)
        at[local + 1] = at[local];
    for (int slice = 0; slice < slices; slice++)
        for (int local = torus_driver(slice, slices, drivers); local < locals; local++)
            at[local + 1] = torus_slice(count, slices, slice + 1);
}

int torus_to_drivers(struct coll_comm *comm, const struct call *call, int drivers, const int64_t *at)
{
    const struct topology *topology = &comm->topology;
    int64_t element = call->reduction.element;
    char *all = call->receive;
    if (topology->locals == 1) {
        if (call->send != all)
            memcpy(all, call->send, (size_t)(call->count * element));
        return MPI_SUCCESS;
    }
    if (drivers == 1)
        return node_reduce(comm, 0, call->send, call->receive, call->count, &call->reduction);
    /* A part of its own: `receive` may be `send`, which others still read. */
    int64_t from = at[topology->local], bytes = (at[topology->local + 1] - from) * element;
    char *part = coll_scratch(comm, SCRATCH_OTHER, bytes + 1);
    if (part == NULL)
        return MPI_ERR_NO_MEM;
    int error = node_reduce_scatter(comm, call->send, part, at, &call->reduction);
    memcpy(all + from * element, part, (size_t)bytes);
    return error;
}

int torus_from_drivers(struct coll_comm *comm, const struct call *call, int drivers, const int64_t *at)
{
    int locals = comm->topology.locals;
    int64_t element = call->reduction.element;
    char *all = call->receive;
    if (locals == 1)
        return MPI_SUCCESS;
    if (drivers == 1)
        return node_bcast(comm, 0, all, call->count * element);
    int64_t *bytes = malloc(2 * (size_t)locals * sizeof *bytes), *where = bytes + locals;
    if (bytes == NULL)
        return MPI_ERR_NO_MEM;
    for (int local = 0; local < locals; local++) {
        bytes[local] = (at[local + 1] - at[local]) * element;
        where[local] = at[local] * element;
    }
    int error = node_allgather(comm, all + where[comm->topology.local], all, 0, bytes, where);
    free(bytes);
    return error;
}

/* Into how many slices the vector is dealt, and who drives them: slice after slice a tree further on. */
struct deal {
    int trees, slices, drivers;
};

/* Combining takes more time than sending: where slices are long enough, all processes of a node have the same number of
   them, several to a tree. */
static struct deal deal_of(const struct coll_comm *comm, struct torus_way way, int64_t bytes)
{
    enum { LEAST = 1024 };
    int trees = torus_way_trees(comm, way), drivers = torus_way_drivers(comm, way), all = comm->topology.least;
    int slices = trees;
    while (slices % all != 0)
        slices += trees;
    if (way.several && way.links && all > trees && bytes / slices >= LEAST)
        return (struct deal){trees, slices, all};
    return (struct deal){trees, trees, drivers};
}

/* This rank's slices through their trees. */
static int through_trees(struct coll_comm *comm, struct torus_way way, const struct call *call, const struct deal *deal,
                         int64_t segment)
{
    const struct cuboid *cuboid = &comm->topology.cuboid;
    int mine = 0, local = comm->topology.local;
    struct stream streams[2 * TORUS_MOST];
    int64_t element = call->reduction.element, room = 0;
    segment = (torus_segment(comm, way, 2, call->count * element, segment) + element - 1) / element * element;
    for (int slice = 0; slice < deal->slices; slice++) {
        if (torus_driver(slice, deal->slices, deal->drivers) != local)
            continue;
        struct stream *stream = &streams[mine++];
        torus_stream(comm, way, slice % deal->trees, cuboid->node_at[0], local, local, stream);
        int64_t from = torus_slice(call->count, deal->slices, slice),
                to = torus_slice(call->count, deal->slices, slice + 1);
        stream->data = (char *)call->receive + from * element;
        stream->bytes = (to - from) * element;
        stream->segment = segment < stream->bytes || stream->bytes == 0 ? segment : stream->bytes;
        stream->unit = element, stream->of = 1, stream->index = 0;
        stream->reduction = &call->reduction;
        room += stream->segment * stream->child_count * FLOW_WINDOW;
    }
    char *scratch = coll_scratch(comm, SCRATCH_WORK, room + 1);
    if (scratch == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < mine; i++) {
        streams[i].arriving = scratch;
        scratch += streams[i].segment * streams[i].child_count * FLOW_WINDOW;
    }
    struct flow flow;
    int error = flow_begin(&flow, &comm->fabric, streams, mine);
    flow_offer(&flow, INT64_MAX);
    return flow_end(&flow, error);
}

int torus_allreduce(struct coll_comm *comm, struct torus_way way, const struct call *call, int64_t segment)
{
    struct deal deal = deal_of(comm, way, call->count * call->reduction.element);
    int locals = comm->topology.locals;
    int64_t *at = malloc(((size_t)locals + 1) * sizeof *at);
    if (at == NULL)
        return MPI_ERR_NO_MEM;
    torus_slices(call->count, deal.slices, deal.drivers, locals, at);
    int error = torus_to_drivers(comm, call, deal.drivers, at);
    if (error == MPI_SUCCESS && comm->topology.local < deal.drivers)
        error = through_trees(comm, way, call, &deal, segment);
    if (error == MPI_SUCCESS)
        error = torus_from_drivers(comm, call, deal.drivers, at);
    free(at);
    return error;
}

double torus_node_cost(const struct coll_comm *comm, int64_t bytes, int drivers)
{
    double others = comm->topology.most - 1, each = (double)bytes * comm->costs.node_byte;
    if (others == 0)
        return 0;
    /* Offered, combined, handed out; one driver alone also collects what the others have combined. Combining reads two and
       writes one. */
    double combined = drivers == 1 ? 1.5 * others / (others + 1) + 1 : 1.5 * others / drivers;
    return comm->costs.node_latency * 4 + each * (2 + combined);
}

double torus_allreduce_cost(const struct coll_comm *comm, struct torus_way way, int64_t bytes, int64_t segment)
{
    struct deal deal = deal_of(comm, way, bytes);
    /* On the way up a node combines what comes from below, in all trees together about as much as there is. */
    double combined = 1.5 * (double)bytes * comm->costs.node_byte / deal.drivers;
    return 2 * torus_pass_cost(comm, way, bytes, segment) + combined + torus_node_cost(comm, bytes, deal.drivers);
}
