#include "../group/scratch.h"
#include "torus/allgather.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return torus_rings_apply(comm);
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    return torus_rings_cost(comm, shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return torus_rings(comm, call);
}

static const char meaning[] = "Rings in one dimension after the other, parts of the data in all dimensions and both "
                              "directions at once, each process its own; then the node shares.";
static const char reference[] = "Barnett et al., Global combine on mesh architectures, 1993 (dimension by dimension); "
                                "parts in turned orders are ours";

const struct algorithm allgather_rings = {
    .name = "allgather_rings",
    .collective = COLL_ALLGATHER,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_twice,
    .run = run,
};

const struct algorithm allgatherv_rings = {
    .name = "allgatherv_rings",
    .collective = COLL_ALLGATHERV,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_all_twice,
    .run = run,
};
