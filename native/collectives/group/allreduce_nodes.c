#include "allreduce_nodes.h"

#include "nodes.h"
#include "rounds.h"

int allreduce_through_leaders(struct coll_comm *comm, const struct call *call, group_allreduce *between)
{
    struct group leaders = call->reduction.commutative ? group_near(comm, 0) : group_lane(comm, 0);
    int error = node_reduce(comm, 0, call->send, leaders.me >= 0 ? call->receive : NULL, call->count, &call->reduction);
    if (error == MPI_SUCCESS && leaders.me >= 0)
        error = between(&leaders, call->receive, call->receive, call->count, &call->reduction);
    return error == MPI_SUCCESS ? node_bcast(comm, 0, call->receive, call->count * call->reduction.element) : error;
}

/* The parts are combined in `work`: what others still read of `receive`, where it is `send` too, stays as it is. */
static int by_parts(struct coll_comm *comm, const struct call *call, const struct lanes *lanes,
                    group_allreduce *between)
{
    int local = comm->topology.local;
    const struct reduction *reduction = &call->reduction;
    int64_t own = lanes->from[local + 1] - lanes->from[local];
    char *work = coll_scratch(comm, SCRATCH_WORK, own * reduction->element + 1);
    if (work == NULL)
        return MPI_ERR_NO_MEM;
    int error = node_reduce_scatter(comm, call->send, work, lanes->from, reduction);
    if (error == MPI_SUCCESS && local < lanes->count) {
        struct group lane = reduction->commutative ? group_near(comm, local) : group_lane(comm, local);
        error = between(&lane, work, work, own, reduction);
    }
    return error == MPI_SUCCESS ? node_allgather(comm, work, call->receive, 0, lanes->bytes, lanes->at) : error;
}

int allreduce_through_lanes(struct coll_comm *comm, const struct call *call, group_allreduce *between)
{
    struct lanes *lanes = lanes_create(comm, call->count, call->reduction.element);
    int error = lanes == NULL ? MPI_ERR_NO_MEM : by_parts(comm, call, lanes, between);
    free(lanes);
    return error;
}

/* One more exchange, and one back, where the number is not a power of two. */
static int uneven(int members)
{
    return power_below(members) == members ? 0 : 2;
}

double cost_doubling(const struct coll_comm *comm, int members, double bytes)
{
    int rounds = cost_levels(power_below(members), 2), levels = rounds + uneven(members);
    /* A whole vector goes twice as far in each round (cost_distance()). */
    double doublings = rounds * (rounds - 1) / 2.0;
    return cost_fabric(comm, levels, (levels + doublings / 4) * bytes) + cost_combine(comm, levels * bytes);
}

double cost_halving(const struct coll_comm *comm, int members, double bytes)
{
    int power = power_below(members);
    double both_ways = members > 2 ? 1.1 : 1; /* on one connection; a ring has two */
    return cost_fabric(comm, 2 * cost_levels(power, 2) + uneven(members),
                       both_ways * 2 * bytes * (power - 1) / power + uneven(members) * bytes) +
           cost_distance(comm, members, 2 * bytes, false) + cost_combine(comm, bytes);
}

/* Both ways at once on every connection, as in halving. */
static double cost_of_parts(const struct coll_comm *comm, int members, double bytes, struct radices radices)
{
    double both_ways = members > 2 ? 1.1 : 1;
    return 2 * radices.cost + both_ways * cost_fabric(comm, 0, 2 * bytes * (radices.taking - 1) / radices.taking) +
           cost_combine(comm, bytes);
}

double cost_dividing(const struct coll_comm *comm, int members, double bytes)
{
    return cost_of_parts(comm, members, bytes, rounds_dividing(comm, members, bytes));
}

double cost_bine(const struct coll_comm *comm, int members, double bytes)
{
    return cost_of_parts(comm, members, bytes, rounds_bine(comm, members, bytes));
}

/* What goes around everybody crosses more borders than circles of neighbours do: 1.1, as simulated; and every block is packed. */
double cost_pat(const struct coll_comm *comm, int members, double bytes)
{
    struct radices radices = rounds_covering(comm, members, bytes);
    radices.taking = members;
    radices.cost *= 1.1;
    return cost_of_parts(comm, members, bytes, radices) + 2 * bytes * comm->costs.node_byte;
}

double cost_ring(const struct coll_comm *comm, int members, double bytes)
{
    return cost_fabric_near(comm, 2 * (members - 1), 2 * bytes * (members - 1) / members) + cost_combine(comm, bytes);
}

double cost_leaders(const struct coll_comm *comm, double bytes)
{
    return cost_node(comm, bytes * comm->topology.most) + cost_node(comm, bytes);
}

double cost_lanes(const struct coll_comm *comm, double bytes)
{
    if (comm->topology.most == 1)
        return 0;
    int levels = cost_levels(comm->topology.nodes, 2);
    return 2 * cost_node(comm, bytes) + cost_fabric_shared(comm, levels, 0) - cost_fabric(comm, levels, 0);
}
