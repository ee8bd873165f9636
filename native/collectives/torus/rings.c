#include <stdlib.h>
#include <string.h>

#include "../group/cost.h"
#include "../node/node.h"
#include "allgather.h"

enum { TAG = 32 };

/* A part of every block of the ranks with one local number, on its way around the rings. */
struct part {
    int first, sign; /* the dimension it begins with, and the direction */
    int number, parts;
    int64_t *at; /* by place in this part's own order of dimensions */
    char *data;
    int phase, step; /* dimensions that are done; steps of the next one */
};

struct rings {
    struct coll_comm *comm;
    const struct call *call;
    const struct torus *torus;
    int here, places, local;
};

static int64_t cut(int64_t bytes, int parts, int number)
{
    return bytes / parts * number + bytes % parts * number / parts;
}

static int dimension_of(const struct rings *rings, const struct part *part, int phase)
{
    return (part->first + phase) % rings->torus->dimensions;
}

/* The number of a place where the part's first dimension varies fastest. */
static int turned(const struct rings *rings, const struct part *part, const int *at)
{
    int number = 0;
    for (int phase = rings->torus->dimensions - 1; phase >= 0; phase--) {
        int d = dimension_of(rings, part, phase);
        number = number * rings->torus->extent[d] + at[d];
    }
    return number;
}

static int rank_at(const struct rings *rings, int place, int local)
{
    const struct topology *topology = &rings->comm->topology;
    return topology_rank(topology, topology->cuboid.node_at[place], local);
}

/* Sizes in the part's order; the end. */
static int64_t lay_out(const struct rings *rings, struct part *part)
{
    int at[TORUS_MOST];
    for (int place = 0; place < rings->places; place++) {
        torus_at(rings->torus, place, at);
        int64_t bytes = allgather_bytes(rings->call, rank_at(rings, place, rings->local));
        part->at[turned(rings, part, at) + 1] =
            cut(bytes, part->parts, part->number + 1) - cut(bytes, part->parts, part->number);
    }
    part->at[0] = 0;
    for (int i = 0; i < rings->places; i++)
        part->at[i + 1] += part->at[i];
    return part->at[rings->places];
}

/* One step of a part: a group of places, those of the dimensions that are done, goes on to the next place. */
static int post(const struct rings *rings, struct part *part, int tag, MPI_Request *requests)
{
    const struct torus *torus = rings->torus;
    int at[TORUS_MOST], width = 1;
    while (part->step == torus->extent[dimension_of(rings, part, part->phase)] - 1) {
        part->phase++;
        part->step = 0;
    }
    for (int phase = 0; phase < part->phase; phase++)
        width *= torus->extent[dimension_of(rings, part, phase)];
    int d = dimension_of(rings, part, part->phase), extent = torus->extent[d];
    int next = torus_step(torus, rings->here, d, part->sign), last = torus_step(torus, rings->here, d, -part->sign);
    torus_at(torus, rings->here, at);
    for (int phase = 0; phase < part->phase; phase++)
        at[dimension_of(rings, part, phase)] = 0;
    int mine = at[d];
    at[d] = ((mine - part->sign * part->step) % extent + extent) % extent;
    int out = turned(rings, part, at);
    at[d] = (at[d] - part->sign + extent) % extent;
    int in = turned(rings, part, at);
    part->step++;
    int error =
        fabric_start_receive(&rings->comm->fabric, part->data + part->at[in], part->at[in + width] - part->at[in],
                             rank_at(rings, last, rings->local), tag, &requests[0]);
    if (error != MPI_SUCCESS)
        return error;
    return fabric_start_send(&rings->comm->fabric, part->data + part->at[out], part->at[out + width] - part->at[out],
                             rank_at(rings, next, rings->local), tag, &requests[1]);
}

static int turn(const struct rings *rings, struct part *parts, int count)
{
    MPI_Request requests[4 * TORUS_MOST];
    int steps = 0, error = MPI_SUCCESS;
    for (int d = 0; d < rings->torus->dimensions; d++)
        steps += rings->torus->extent[d] - 1;
    for (int step = 0; step < steps && error == MPI_SUCCESS; step++) {
        for (int i = 0; i < 2 * count; i++)
            requests[i] = MPI_REQUEST_NULL;
        for (int i = 0; i < count && error == MPI_SUCCESS; i++)
            error = post(rings, &parts[i], TAG + i, requests + 2 * i);
        int waited = fabric_wait(&rings->comm->fabric, 2 * count, requests);
        error = error == MPI_SUCCESS ? waited : error;
    }
    return error;
}

/* Between a part and the blocks by place, the whole of them one after the other: this rank's own in, or all out. */
static void copy(const struct rings *rings, const struct part *part, const int64_t *place_at, char *blocks, bool out)
{
    int at[TORUS_MOST];
    for (int place = 0; place < rings->places; place++) {
        if (!out && place != rings->here)
            continue;
        torus_at(rings->torus, place, at);
        int i = turned(rings, part, at);
        int64_t bytes = place_at[place + 1] - place_at[place];
        char *own = part->data + part->at[i], *block = blocks + place_at[place] + cut(bytes, part->parts, part->number);
        memcpy(out ? block : own, out ? own : block, (size_t)(part->at[i + 1] - part->at[i]));
    }
}

/* The blocks of all ranks with this rank's local number, by place. */
static int around(const struct rings *rings, const int64_t *place_at, char *blocks)
{
    int ports = 2 * rings->torus->dimensions, places = rings->places;
    /* A node with as many processes as ports has one way for each; else each takes several. */
    int count = rings->comm->topology.locals >= ports ? 1 : ports;
    struct part parts[2 * TORUS_MOST];
    int64_t *at = malloc((size_t)count * (size_t)(places + 1) * sizeof *at), room = 0;
    if (at == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < count; i++) {
        int way = (rings->local + i) % ports;
        parts[i] = (struct part){.first = way % rings->torus->dimensions,
                                 .sign = way < ports / 2 ? 1 : -1,
                                 .number = i,
                                 .parts = count,
                                 .at = at + i * (places + 1)};
        room += lay_out(rings, &parts[i]);
    }
    char *memory = coll_scratch(rings->comm, SCRATCH_WORK, room + 1);
    for (int i = 0; i < count && memory != NULL; i++) {
        parts[i].data = memory;
        memory += parts[i].at[places];
        copy(rings, &parts[i], place_at, blocks, false);
    }
    int error = memory == NULL ? MPI_ERR_NO_MEM : turn(rings, parts, count);
    for (int i = 0; i < count && error == MPI_SUCCESS; i++)
        copy(rings, &parts[i], place_at, blocks, true);
    free(at);
    return error;
}

int torus_rings(struct coll_comm *comm, const struct call *call)
{
    const struct topology *topology = &comm->topology;
    int locals = topology->locals, places = topology->nodes;
    struct rings rings = {comm,   call,           &topology->cuboid.torus, topology->cuboid.place_of[topology->node],
                          places, topology->local};
    /* By local number: its blocks by place. */
    int64_t *at = malloc(((size_t)locals * (size_t)(places + 1) + 2 * (size_t)locals) * sizeof *at), total = 0;
    if (at == NULL)
        return MPI_ERR_NO_MEM;
    int64_t *bytes = at + (size_t)locals * (size_t)(places + 1), *begins = bytes + locals;
    for (int local = 0; local < locals; local++) {
        int64_t *place_at = at + (size_t)local * (size_t)(places + 1);
        place_at[0] = 0;
        for (int place = 0; place < places; place++)
            place_at[place + 1] = place_at[place] + allgather_bytes(call, rank_at(&rings, place, local));
        begins[local] = total;
        total += bytes[local] = place_at[places];
    }
    char *blocks = coll_scratch(comm, SCRATCH_OTHER, total + 1);
    int error = blocks == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (error == MPI_SUCCESS) {
        const int64_t *place_at = at + (size_t)rings.local * (size_t)(places + 1);
        char *own = blocks + begins[rings.local];
        memcpy(own + place_at[rings.here], call->send, (size_t)allgather_bytes(call, comm->rank));
        error = around(&rings, place_at, own);
        if (error == MPI_SUCCESS && locals > 1)
            error = node_allgather(comm, own, blocks, 0, bytes, begins);
    }
    for (int local = 0; local < locals && error == MPI_SUCCESS; local++)
        for (int place = 0; place < places; place++) {
            const int64_t *place_at = at + (size_t)local * (size_t)(places + 1);
            memcpy((char *)call->receive + allgather_at(call, rank_at(&rings, place, local)),
                   blocks + begins[local] + place_at[place], (size_t)(place_at[place + 1] - place_at[place]));
        }
    free(at);
    return error;
}

bool torus_rings_apply(const struct coll_comm *comm)
{
    return torus_applies(comm) && comm->topology.regular && torus_wraps(&comm->topology.cuboid.torus);
}

double torus_rings_cost(const struct coll_comm *comm, int64_t bytes)
{
    const struct torus *torus = &comm->topology.cuboid.torus;
    double total = (double)bytes * comm->ranks, steps = 0;
    for (int d = 0; d < torus->dimensions; d++)
        steps += torus->extent[d] - 1;
    const double step = cost_neighbour(&comm->costs) + (2 * torus->dimensions - 1) * comm->costs.fabric_message;
    return steps * step + total / (2 * torus->dimensions) * comm->costs.fabric_byte + 2 * total * comm->costs.node_byte;
}
