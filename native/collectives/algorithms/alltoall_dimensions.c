/* Along one dimension after the other: on each ring or line every place sends to each other place there, in one message,
 * all it has for whatever lies behind that. Ranks of a node begin with different dimensions; a node with fewer ranks than
 * dimensions cuts its blocks into a part for each, so that no links are idle.
 *
 * There is no such alltoallv: what goes through a place is of others, whose sizes would have to travel ahead of it in each
 * phase, and may be many times what that rank itself sends or gets, so that it could run out of memory for no call of its
 * own making. */
#include <stdlib.h>
#include <string.h>

#include "../group/cost.h"
#include "torus/balanced.h"
#include "torus/exchange.h"
#include "torus/lanes.h"

enum { TAG = 16, LEAST_PART = 128 };

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return torus_applies(comm) && comm->topology.regular;
}

/* Sorted by node, and in the order of each dimension. */
static int64_t scratch(const struct coll_comm *comm, const struct shape *shape)
{
    return 5 * shape->bytes * comm->ranks;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const struct torus *torus = &comm->topology.cuboid.torus;
    double messages = 0, middle = 0, all = (double)shape->bytes * comm->ranks;
    for (int d = 0; d < torus->dimensions; d++) {
        double share = torus->extent[d] / (torus->wraps[d] ? 8.0 : 4.0);
        messages += torus->extent[d] - 1;
        middle = share > middle ? share : middle;
    }
    /* Every block leaves a node once in each dimension: half of them by each link of it, if none is fuller. */
    middle = middle > 0.5 ? middle : 0.5;
    return messages * cost_neighbour(&comm->costs) + middle * all * comm->topology.most * comm->costs.fabric_byte +
           (torus->dimensions + 1) * all * comm->costs.node_byte + torus_by_lanes_cost(comm, shape->bytes);
}

/* A part of every block on its way. In each phase the blocks' numbers are their places', the phase's dimension varying
   slowest: as far as dimensions are done, those of where they come from, else of where they go. */
struct part {
    int first, phase;    /* the dimension it begins with; phases that are over */
    int64_t from, bytes; /* of each block */
    char *now, *next;
    char *room; /* of the ring */
    int *ranks; /* on it */
    bool turning;
    struct torus ring;
    struct balanced balanced;
};

struct job {
    struct coll_comm *comm;
    const struct torus *torus;
    int here, places, count;
    int64_t block;
    const char *send;
    char *receive;
    struct part parts[TORUS_MOST];
};

static int dimension_of(const struct job *job, const struct part *part)
{
    return (part->first + part->phase) % job->torus->dimensions;
}

/* The number of a place where this dimension varies slowest. */
static int64_t turned(const struct torus *torus, int place, int dimension)
{
    int at[TORUS_MOST], number;
    torus_at(torus, place, at);
    number = at[dimension];
    for (int d = torus->dimensions - 1; d >= 0; d--)
        number = d == dimension ? number : number * torus->extent[d] + at[d];
    return number;
}

/* What is to go around in the phase that begins. */
static void sort(const struct job *job, const struct part *part)
{
    int dimension = dimension_of(job, part), dimensions = job->torus->dimensions;
    for (int place = 0; place < job->places; place++) {
        const char *from = job->send + place * job->block + part->from;
        if (part->phase > 0)
            from = part->next + turned(job->torus, place, (dimension + dimensions - 1) % dimensions) * part->bytes;
        memcpy(part->now + turned(job->torus, place, dimension) * part->bytes, from, (size_t)part->bytes);
    }
}

static void hand_out(const struct job *job, const struct part *part)
{
    int last = (part->first + job->torus->dimensions - 1) % job->torus->dimensions;
    for (int place = 0; place < job->places; place++)
        memcpy(job->receive + place * job->block + part->from,
               part->next + turned(job->torus, place, last) * part->bytes, (size_t)part->bytes);
}

/* The ring or line through this place, and what balanced_begin needs for it. */
static int64_t plan(const struct job *job, struct part *part, int dimension)
{
    const struct topology *topology = &job->comm->topology;
    int extent = job->torus->extent[dimension], at[TORUS_MOST];
    torus_at(job->torus, job->here, at);
    part->ring = (struct torus){1, {extent}, {job->torus->wraps[dimension]}};
    part->balanced = (struct balanced){.comm = job->comm,
                                       .torus = &part->ring,
                                       .here = at[dimension],
                                       .ranks = part->ranks,
                                       .block = job->places / extent * part->bytes,
                                       .send = part->now,
                                       .receive = part->next,
                                       .tag = TAG + part->first,
                                       .ahead = extent - 1 < BALANCED_AHEAD ? extent - 1 : BALANCED_AHEAD,
                                       .turns = 1};
    for (int i = 0; i < extent; i++) {
        at[dimension] = i;
        part->ranks[i] =
            topology_rank(topology, topology->cuboid.node_at[torus_place(job->torus, at)], topology->local);
    }
    return balanced_plan(&part->balanced);
}

/* One message. */
static int advance(const struct job *job, struct part *part)
{
    int error = MPI_SUCCESS;
    if (!part->turning) {
        sort(job, part);
        if (plan(job, part, dimension_of(job, part)) < 0)
            return MPI_ERR_NO_MEM;
        balanced_begin(&part->balanced, part->room);
        part->turning = true;
    }
    if (part->balanced.begun < part->balanced.count)
        error = balanced_step(&part->balanced);
    if (error != MPI_SUCCESS || part->balanced.begun < part->balanced.count)
        return error;
    part->turning = false;
    error = balanced_end(&part->balanced, MPI_SUCCESS);
    if (error == MPI_SUCCESS && ++part->phase == job->torus->dimensions)
        hand_out(job, part);
    return error;
}

/* Memory for all parts. */
static bool prepare(struct job *job, int *ranks)
{
    int64_t room[TORUS_MOST], total = 0;
    for (int i = 0; i < job->count; i++) {
        struct part *part = &job->parts[i];
        part->first = (job->comm->topology.local + i) % job->torus->dimensions;
        part->from = job->block * i / job->count;
        part->bytes = job->block * (i + 1) / job->count - part->from;
        part->ranks = ranks + (ptrdiff_t)i * job->places;
        room[i] = 0;
        for (int d = 0; d < job->torus->dimensions; d++) {
            int64_t bytes = plan(job, part, d);
            if (bytes < 0)
                return false;
            room[i] = bytes > room[i] ? bytes : room[i];
            balanced_end(&part->balanced, MPI_ERR_OTHER);
        }
        total += room[i] + 2 * job->places * part->bytes;
    }
    char *memory = coll_scratch(job->comm, SCRATCH_MORE, total);
    for (int i = 0; i < job->count && memory != NULL; i++) {
        struct part *part = &job->parts[i];
        part->now = memory, part->next = memory + job->places * part->bytes;
        part->room = part->next + job->places * part->bytes;
        memory = part->room + room[i];
    }
    return memory != NULL;
}

static int lane(struct coll_comm *comm, int64_t block, const char *send, char *receive)
{
    const struct cuboid *cuboid = &comm->topology.cuboid;
    int dimensions = cuboid->torus.dimensions, places = torus_places(&cuboid->torus);
    bool cut = comm->topology.locals < dimensions && block >= LEAST_PART * dimensions;
    struct job job = {.comm = comm,
                      .torus = &cuboid->torus,
                      .here = cuboid->place_of[comm->topology.node],
                      .places = places,
                      .count = cut ? dimensions : 1,
                      .block = block,
                      .send = send,
                      .receive = receive};
    int *ranks = malloc((size_t)job.count * (size_t)places * sizeof *ranks);
    int error = ranks != NULL && prepare(&job, ranks) ? MPI_SUCCESS : MPI_ERR_NO_MEM, going = job.count;
    while (going > 0 && error == MPI_SUCCESS) {
        going = 0;
        for (int i = 0; i < job.count && error == MPI_SUCCESS; i++)
            if (job.parts[i].phase < dimensions) {
                error = advance(&job, &job.parts[i]);
                going++;
            }
    }
    for (int i = 0; i < job.count; i++)
        if (job.parts[i].turning)
            balanced_end(&job.parts[i].balanced, MPI_ERR_OTHER);
    free(ranks);
    return error;
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return torus_by_lanes(comm, call, lane);
}

const struct algorithm alltoall_dimensions = {
    .name = "alltoall_dimensions",
    .collective = COLL_ALLTOALL,
    .meaning =
        "Along x, then y, then z: on every ring one message to each other place of it, with all that lies behind; "
        "ranks of a node begin with different dimensions.",
    .reference =
        "Suh and Shin, All-to-all personalized communication in multidimensional torus and mesh networks, 2001",
    .applies = applies,
    .cost = cost,
    .scratch = scratch,
    .run = run,
};
