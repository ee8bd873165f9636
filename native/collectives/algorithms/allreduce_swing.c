#include <stdlib.h>
#include <string.h>

#include "../group/scratch.h"
#include "torus/allreduce.h"
#include "torus/swing.h"

enum { TAG = 48 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    return torus_applies(comm) && shape->commutative && torus_wraps(&comm->topology.cuboid.torus) &&
           swing_applies(&comm->topology.cuboid.torus);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const struct torus *torus = &comm->topology.cuboid.torus;
    int ways = swing_ways(torus), least = comm->topology.least;
    double bytes = (double)shape->bytes;
    double node = torus_node_cost(comm, shape->bytes, ways < least ? ways : least);
    /* A fifth more than what must be sent: links that peers share (the paper's congestion deficiency in 3D). */
    const double step = comm->costs.fabric_latency + (ways - 1) * comm->costs.fabric_message;
    return 2 * swing_steps(torus) * step + 2.4 * bytes / ways * comm->costs.fabric_byte + node;
}

/* One part of the vector on its way. */
struct way {
    int number, part; /* of swing_peer(), and the place's number */
    char *data;
    int64_t count;     /* elements */
    int64_t low, high; /* parts that this place still (or again) has */
    char *arriving;
};

struct swing {
    struct coll_comm *comm;
    const struct call *call;
    const struct torus *torus;
    int steps, count, local;
    struct way ways[2 * TORUS_MOST];
};

static int64_t elements(const struct swing *swing, const struct way *way, int64_t part)
{
    return torus_slice(way->count, 1 << swing->steps, (int)part);
}

/* Both ways of one step, in all directions at once. When scattering, `other` is what the peer keeps; when gathering, what it
   has. */
static int step(struct swing *swing, int number, bool scatter)
{
    struct coll_comm *comm = swing->comm;
    const struct cuboid *cuboid = &comm->topology.cuboid;
    MPI_Request requests[4 * TORUS_MOST];
    int64_t element = swing->call->reduction.element;
    int error = MPI_SUCCESS, posted = 0;
    for (int i = 0; i < swing->count && error == MPI_SUCCESS; i++) {
        struct way *way = &swing->ways[i];
        int here = cuboid->place_of[comm->topology.node];
        int node = cuboid->node_at[swing_peer(swing->torus, way->number, number, here)];
        int peer = topology_rank(&comm->topology, node, swing->local);
        int64_t half = (way->high - way->low) / 2, middle = way->low + half;
        bool high = way->part >> (swing->steps - 1 - number) & 1;
        int64_t other = scatter ? (high ? way->low : middle) : high ? way->low - (way->high - way->low) : way->high;
        int64_t width = scatter ? half : way->high - way->low;
        int64_t theirs = elements(swing, way, other), their_count = elements(swing, way, other + width) - theirs;
        if (scatter) {
            way->low = high ? middle : way->low;
            way->high = high ? way->high : middle;
        }
        int64_t mine = elements(swing, way, way->low), own_count = elements(swing, way, way->high) - mine;
        char *in = scatter ? way->arriving : way->data + theirs * element;
        char *out = way->data + (scatter ? theirs : mine) * element;
        error = fabric_start_receive(&comm->fabric, in, (scatter ? own_count : their_count) * element, peer,
                                     TAG + way->number, &requests[posted++]);
        if (error == MPI_SUCCESS)
            error = fabric_start_send(&comm->fabric, out, (scatter ? their_count : own_count) * element, peer,
                                      TAG + way->number, &requests[posted++]);
        else
            posted--;
        if (!scatter) {
            way->low = way->low < other ? way->low : other;
            way->high = way->low + 2 * width;
        }
    }
    int waited = fabric_wait(&comm->fabric, posted, requests);
    return error == MPI_SUCCESS ? waited : error;
}

static void combine(const struct swing *swing)
{
    const struct reduction *reduction = &swing->call->reduction;
    for (int i = 0; i < swing->count; i++) {
        const struct way *way = &swing->ways[i];
        int64_t from = elements(swing, way, way->low), count = elements(swing, way, way->high) - from;
        char *at = way->data + from * reduction->element;
        if (count > 0)
            reduction->combine(reduction, at, way->arriving, at, count);
    }
}

/* This rank's slices, each a way of its own. */
static int swing_ahead(struct coll_comm *comm, const struct call *call, int drivers)
{
    const struct cuboid *cuboid = &comm->topology.cuboid;
    struct swing swing = {comm, call, &cuboid->torus, swing_steps(&cuboid->torus), 0, comm->topology.local, {{0}}};
    int ways = swing_ways(&cuboid->torus), here = cuboid->place_of[comm->topology.node];
    int64_t element = call->reduction.element, room = 0;
    for (int number = 0; number < ways; number++) {
        if (torus_driver(number, ways, drivers) != comm->topology.local)
            continue;
        int64_t from = torus_slice(call->count, ways, number), to = torus_slice(call->count, ways, number + 1);
        swing.ways[swing.count++] = (struct way){.number = number,
                                                 .part = swing_part(&cuboid->torus, number, here),
                                                 .data = (char *)call->receive + from * element,
                                                 .count = to - from,
                                                 .high = INT64_C(1) << swing.steps};
        room += (to - from) * element;
    }
    char *scratch = coll_scratch(comm, SCRATCH_WORK, room + 1);
    if (scratch == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < swing.count; i++) {
        swing.ways[i].arriving = scratch;
        scratch += swing.ways[i].count * element;
    }
    int error = MPI_SUCCESS;
    for (int number = 0; number < swing.steps && error == MPI_SUCCESS; number++) {
        error = step(&swing, number, true);
        if (error == MPI_SUCCESS)
            combine(&swing);
    }
    for (int number = swing.steps - 1; number >= 0 && error == MPI_SUCCESS; number--)
        error = step(&swing, number, false);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    int ways = swing_ways(&comm->topology.cuboid.torus), locals = comm->topology.locals;
    int drivers = ways < comm->topology.least ? ways : comm->topology.least;
    int64_t *at = malloc(((size_t)locals + 1) * sizeof *at);
    if (at == NULL)
        return MPI_ERR_NO_MEM;
    torus_slices(call->count, ways, drivers, locals, at);
    int error = torus_to_drivers(comm, call, drivers, at);
    if (error == MPI_SUCCESS && comm->topology.local < drivers)
        error = swing_ahead(comm, call, drivers);
    if (error == MPI_SUCCESS)
        error = torus_from_drivers(comm, call, drivers, at);
    free(at);
    return error;
}

const struct algorithm allreduce_swing = {
    .name = "allreduce_swing",
    .collective = COLL_ALLREDUCE,
    .meaning = "Combined in the node, then by halves with peers that swing back and forth, each part of the vector "
               "beginning in another direction, and gathered the same way back. Extents are powers of two.",
    .reference = "De Sensi et al., Swing: short-cutting rings for higher bandwidth allreduce, NSDI 2024",
    .applies = applies,
    .cost = cost,
    .scratch = scratch_two_vectors,
    .run = run,
};
