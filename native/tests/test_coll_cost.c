/* Factors of the cost models that were measured: a byte of a copy by the length of its message, messages of several ranks at once. */
#include <math.h>

#include "check.h"
#include "collectives.h"
#include "group/allreduce_nodes.h"
#include "group/cost.h"

static double of_byte(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return comm->costs.node_byte;
}

static const struct algorithm row = {.name = "allreduce_row", .collective = COLL_ALLREDUCE, .cost = of_byte};

static double cost_of(bool crowded, const struct costs *costs, int64_t bytes)
{
    const struct coll_comm comm = {.ranks = 8, .crowded = crowded, .costs = *costs};
    const struct shape shape = {.bytes = bytes, .element = 8, .commutative = true};
    return algorithm_cost(&row, &comm, &shape);
}

static bool is_near(double found, double expected)
{
    return fabs(found - expected) < 1e-9 * expected;
}

static void by_length_where_ranks_share_cpus(void)
{
    const struct costs costs = {.node_byte = 8e-10, .has_shorter = true, .shorter = {2e-10, 4e-10}};
    CHECK(is_near(cost_of(true, &costs, 8), 2e-10) && is_near(cost_of(true, &costs, 8 << 10), 2e-10));
    CHECK(is_near(cost_of(true, &costs, 20 << 10), 3e-10) && is_near(cost_of(true, &costs, 32 << 10), 4e-10));
    CHECK(is_near(cost_of(true, &costs, 80 << 10), 6e-10));
    CHECK(is_near(cost_of(true, &costs, COSTS_LONG), 8e-10) && is_near(cost_of(true, &costs, INT64_C(1) << 40), 8e-10));
    double before = 0;
    for (int64_t bytes = 1; bytes < 1 << 20; bytes += 1 + bytes / 7) {
        CHECK(cost_of(true, &costs, bytes) >= before);
        before = cost_of(true, &costs, bytes);
    }
}

static void alike_where_they_do_not_or_nothing_is_known(void)
{
    const struct costs known = {.node_byte = 8e-10, .has_shorter = true, .shorter = {2e-10, 4e-10}};
    const struct costs other = {.node_byte = 8e-10};
    for (int64_t bytes = 8; bytes <= 1 << 20; bytes *= 2)
        CHECK(is_near(cost_of(false, &known, bytes), 8e-10) && is_near(cost_of(true, &other, bytes), 8e-10));
}

/* What was sent is combined at a rate of its own where that is known. */
static void combining_as_it_was_measured(void)
{
    struct coll_comm comm = {.ranks = 8, .topology = {.nodes = 8, .most = 1}, .costs = {.node_byte = 8e-10}};
    CHECK(is_near(cost_combine(&comm, 100), 8e-8));
    const double as_a_copy = cost_ring(&comm, 8, 1e6);
    comm.costs.combine_byte = 2e-10;
    CHECK(is_near(cost_combine(&comm, 100), 2e-8));
    CHECK(is_near(as_a_copy - cost_ring(&comm, 8, 1e6), 1e6 * 6e-10));
}

/* Messages that all ranks of a node send at once. */
static void sharing_as_it_was_measured(void)
{
    struct coll_comm comm = {.ranks = 8, .topology = {.nodes = 2, .most = 4}, .costs = {.fabric_latency = 2e-6}};
    CHECK(is_near(cost_fabric_shared(&comm, 3, 0), 3 * 2e-6 * 1.75));
    comm.costs.has_sharing = true;
    CHECK(is_near(cost_fabric_shared(&comm, 3, 0), 3 * 2e-6));
    comm.costs.sharing = 0.5;
    CHECK(is_near(cost_fabric_shared(&comm, 3, 0), 3 * 2e-6 * 2.5));
    comm.crowded = true;
    CHECK(is_near(cost_fabric_shared(&comm, 3, 0), 3 * 2e-6 * 4));
}

/* Eight ranks of two cores, as an Intel Xeon measured them: slices wait once more, which their shorter copies do not win back. */
static void a_short_vector_does_not_wait_for_slices(void)
{
    const struct costs costs = {.node_latency = 1.2e-7,
                                .node_byte = 1.0e-9,
                                .node_wait = 8e-6,
                                .has_shorter = true,
                                .shorter = {0.4e-9, 0.85e-9}};
    const struct coll_comm comm = {.ranks = 8, .crowded = true, .costs = costs, .topology = {.nodes = 1, .most = 8}};
    const struct shape shorter = {.bytes = 4096, .element = 8, .commutative = true};
    const struct shape longer = {.bytes = 1 << 20, .element = 8, .commutative = true};
    const struct algorithm *cells = algorithm_find(COLL_ALLREDUCE, "cells"),
                           *slices = algorithm_find(COLL_ALLREDUCE, "slices");
    CHECK(algorithm_cost(cells, &comm, &shorter) < algorithm_cost(slices, &comm, &shorter));
    CHECK(algorithm_cost(cells, &comm, &longer) > algorithm_cost(slices, &comm, &longer));
}

int main(void)
{
    by_length_where_ranks_share_cpus();
    alike_where_they_do_not_or_nothing_is_known();
    combining_as_it_was_measured();
    sharing_as_it_was_measured();
    a_short_vector_does_not_wait_for_slices();
    return verdict();
}
