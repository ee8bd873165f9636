/* The memory of a call is bounded: what takes more does not apply, or is done in pieces. */
#include "collectives.h"

/* Of one reduction: what is in the caches of a socket; at 16 MiB at a time the steps of a recursive halving over 1,000 nodes
   cost a few percent. Of other collectives, whose blocks would have to be packed to be cut: of the ranks of a node
   together, and of each. */
static const int64_t piece_most = INT64_C(16) << 20;
static const int64_t node_most = INT64_C(2) << 30, rank_most = INT64_C(256) << 20;

static bool is_reduction(enum collective collective)
{
    return collective == COLL_REDUCE || collective == COLL_ALLREDUCE;
}

static int64_t most_of(const struct coll_comm *comm)
{
    int64_t most = node_most / comm->topology.most;
    return most < piece_most ? piece_most : most < rank_most ? most : rank_most;
}

bool algorithm_applies(const struct algorithm *algorithm, const struct coll_comm *comm, const struct shape *shape)
{
    if (!comm->served || (shape->ordered && !algorithm->keeps_order) || !algorithm->applies(comm, shape))
        return false;
    return algorithm->scratch == NULL || is_reduction(algorithm->collective) ||
           algorithm->scratch(comm, shape) <= most_of(comm);
}

/* Elements of a reduction that go at once, in pieces of about the same length. */
static int64_t piece_of(const struct algorithm *algorithm, const struct coll_comm *comm, const struct call *call)
{
    const int64_t unit = 512; /* elements; pieces begin at places as well aligned as the vector */
    const struct shape shape = {.bytes = call->bytes, .element = call->reduction.element, .commutative = call->reduction.commutative,
                                .root = call->root};
    int64_t takes = algorithm->scratch == NULL ? 0 : algorithm->scratch(comm, &shape);
    if (takes <= piece_most)
        return call->count;
    int64_t pieces = (takes + piece_most - 1) / piece_most, each = (call->count + pieces - 1) / pieces;
    return (each + unit - 1) / unit * unit;
}

int algorithm_run(const struct algorithm *algorithm, struct coll_comm *comm, const struct call *call, int64_t segment)
{
    segment = segment != 0 ? segment : algorithm->segment;
    int64_t each = is_reduction(call->collective) ? piece_of(algorithm, comm, call) : call->count;
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
