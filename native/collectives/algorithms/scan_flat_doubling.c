#include "../group/cost.h"
#include "../group/group.h"
#include "../group/scratch.h"

static bool applies(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->ranks > 1;
}

static double cost(const struct coll_comm *comm, const struct shape *shape)
{
    const int levels = cost_levels(comm->ranks, 2);
    const double away = (double)shape->bytes * comm->topology.most * cost_away(comm);
    return cost_fabric_shared(comm, levels, levels * away) + cost_combine(comm, levels * (double)shape->bytes);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    const struct group all = group_everybody(comm);
    return group_scan(&all, call->send, call->receive, call->count, &call->reduction, call->collective == COLL_EXSCAN);
}

static const char meaning[] =
    "Recursive doubling: at each step everybody passes what it has on to the rank twice as far above.";
static const char reference[] = "Hillis, Steele: Data parallel algorithms (1986)";

const struct algorithm scan_flat_doubling = {
    .name = "scan_flat_doubling",
    .collective = COLL_SCAN,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_vector,
    .run = run,
};

const struct algorithm exscan_flat_doubling = {
    .name = "exscan_flat_doubling",
    .collective = COLL_EXSCAN,
    .meaning = meaning,
    .reference = reference,
    .applies = applies,
    .cost = cost,
    .scratch = scratch_two_vectors,
    .run = run,
};
