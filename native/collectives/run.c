/* The memory of a call is bounded: what takes more does not apply, or is done in pieces. */
#include <stdlib.h>
#include <string.h>

#include "collectives.h"
#include "group/cost.h"

/* Of one reduction: what is in the caches of a socket; at 16 MiB at a time the steps of a recursive halving over 1,000 nodes
   cost a few percent. Of other collectives, whose blocks would have to be packed to be cut: of the ranks of a node
   together, and of each. */
static const int64_t piece_most = INT64_C(16) << 20;
static const int64_t node_most = INT64_C(2) << 30, rank_most = INT64_C(256) << 20;

static int64_t most_of(const struct coll_comm *comm)
{
    int64_t most = node_most / comm->topology.most;
    return most < piece_most ? piece_most : most < rank_most ? most : rank_most;
}

bool algorithm_applies(const struct algorithm *algorithm, const struct coll_comm *comm, const struct shape *shape)
{
    if (!comm->served || (shape->ordered && !algorithm->keeps_order) || !algorithm->applies(comm, shape))
        return false;
    const bool in_pieces =
        collective_reduces(algorithm->collective) && !collective_is_nonblocking(algorithm->collective);
    return algorithm->scratch == NULL || in_pieces || algorithm->scratch(comm, shape) <= most_of(comm);
}

struct crossing algorithm_crosses(const struct algorithm *algorithm, const struct coll_comm *comm,
                                  const struct shape *shape)
{
    if (comm->topology.places == NULL || algorithm->crosses == NULL)
        return (struct crossing){0, 0};
    return algorithm->crosses(comm, shape);
}

/* Where ranks share CPUs nothing is tried before (trial.h), so a row's copies must cost what those of this length do. */
static double row_cost(const struct algorithm *algorithm, const struct coll_comm *comm, const struct shape *shape)
{
    if (!comm->crowded || !comm->costs.has_shorter)
        return algorithm->cost(comm, shape);
    struct coll_comm sized = *comm;
    sized.costs.node_byte = cost_byte(&comm->costs, shape->bytes);
    return algorithm->cost(&sized, shape);
}

double algorithm_cost(const struct algorithm *algorithm, const struct coll_comm *comm, const struct shape *shape)
{
    const double cost = row_cost(algorithm, comm, shape);
    if (comm->topology.places == NULL)
        return cost;
    return cost +
           comm->topology.places->taper * algorithm_crosses(algorithm, comm, shape).fullest * comm->costs.fabric_byte;
}

/* Elements of a reduction that go at once, in pieces of about the same length. */
static int64_t piece_of(const struct algorithm *algorithm, const struct coll_comm *comm, const struct call *call)
{
    const int64_t unit = 512; /* elements; pieces begin at places as well aligned as the vector */
    const struct shape shape = {.bytes = call->bytes,
                                .element = call->reduction.element,
                                .commutative = call->reduction.commutative,
                                .root = call->root};
    int64_t takes = algorithm->scratch == NULL ? 0 : algorithm->scratch(comm, &shape);
    if (takes <= piece_most)
        return call->count;
    int64_t pieces = (takes + piece_most - 1) / piece_most, each = (call->count + pieces - 1) / pieces;
    return (each + unit - 1) / unit * unit;
}

/* Of blocks that are cut at so many bytes, all together. */
static int64_t sum_of(const struct call *call, int ranks, int64_t each)
{
    int64_t sum = 0;
    for (int rank = 0; rank < ranks; rank++)
        sum += call->send_bytes[rank] < each ? call->send_bytes[rank] : each;
    return sum;
}

/* Bytes of each block that go at once: of no block more than piece_most, so that there is room for it beside the vector where
   that is in place; and of all together so many that the algorithm takes no more than that. */
static int64_t cut_of(const struct algorithm *algorithm, const struct coll_comm *comm, const struct call *call)
{
    const int64_t element = call->reduction.element, unit = 64 * element, all = sum_of(call, comm->ranks, INT64_MAX);
    const struct shape shape = {.bytes = call->bytes, .element = element, .commutative = call->reduction.commutative};
    int64_t takes = algorithm->scratch == NULL ? 0 : algorithm->scratch(comm, &shape), least = element,
            most = piece_most;
    if (takes > piece_most) {
        const int64_t room = (int64_t)((double)all * ((double)piece_most / (double)takes));
        while (most - least > element) {
            int64_t middle = least + (most - least) / 2;
            if (sum_of(call, comm->ranks, middle) > room)
                most = middle;
            else
                least = middle;
        }
        most = least;
    }
    return most > unit ? most / unit * unit : most / element * element;
}

/* A vector of which every rank gets a block, in pieces of each. What a piece leaves at the begin of a vector in place lies over
   what went before: bytes of earlier pieces, of whatever block. */
static int run_blocks(const struct algorithm *algorithm, struct coll_comm *comm, const struct call *call,
                      int64_t segment)
{
    const size_t ranks = (size_t)comm->ranks;
    const bool in_place = call->receive == call->send;
    const int64_t each = cut_of(algorithm, comm, call), own = call->send_bytes[comm->rank];
    int64_t longest = 0;
    for (size_t rank = 0; rank < ranks; rank++)
        longest = call->send_bytes[rank] > longest ? call->send_bytes[rank] : longest;
    if (longest <= each && !in_place)
        return algorithm->run(comm, call, segment);
    int64_t *bytes = malloc(2 * ranks * sizeof *bytes), *at = bytes + ranks;
    char *room = in_place ? coll_scratch(comm, SCRATCH_MORE, (own < each ? own : each) + 1) : NULL;
    int error = bytes == NULL || (in_place && room == NULL) ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    for (int64_t from = 0; from < longest && error == MPI_SUCCESS; from += each) {
        struct call piece = *call;
        for (size_t rank = 0; rank < ranks; rank++) {
            int64_t left = call->send_bytes[rank] - from;
            bytes[rank] = left < 0 ? 0 : left < each ? left : each;
            at[rank] = call->send_at[rank] + from;
        }
        piece.send_bytes = bytes, piece.send_at = at;
        piece.bytes = call->collective == COLL_REDUCE_SCATTER ? sum_of(&piece, comm->ranks, each) : bytes[0];
        piece.receive = in_place ? room : (char *)call->receive + from;
        error = algorithm->run(comm, &piece, segment);
        if (in_place && error == MPI_SUCCESS && bytes[comm->rank] > 0)
            memcpy((char *)call->receive + from, room, (size_t)bytes[comm->rank]);
    }
    free(bytes);
    return error;
}

int algorithm_run(const struct algorithm *algorithm, struct coll_comm *comm, const struct call *call, int64_t segment)
{
    segment = segment != 0 ? segment : algorithm->segment;
    if (collective_is_nonblocking(call->collective))
        return algorithm->run(comm, call, segment);
    if (collective_scatters_sum(call->collective))
        return run_blocks(algorithm, comm, call, segment);
    int64_t each = collective_reduces(call->collective) ? piece_of(algorithm, comm, call) : call->count;
    if (each == call->count)
        return algorithm->run(comm, call, segment);
    int error = MPI_SUCCESS;
    for (int64_t done = 0; done < call->count && error == MPI_SUCCESS; done += each) {
        struct call piece = *call;
        int64_t at = done * call->reduction.element;
        piece.count = call->count - done < each ? call->count - done : each;
        piece.bytes = piece.count * call->reduction.element;
        piece.send = (const char *)call->send + at;
        piece.receive = call->receive == NULL ? NULL : (char *)call->receive + at;
        error = algorithm->run(comm, &piece, segment);
    }
    return error;
}
