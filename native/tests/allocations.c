/* What collectives put between groups of nodes in given allocations, and what the library chooses there: the library's own counting
 * and choice, without ranks.
 *
 *     allocations PPN < lines     a line a job: the group of each node, by number, in order of ranks
 *
 * Prints a line for each job, collective and message size: the job's number, collective, bytes, our choice, seconds by its model, bytes it
 * puts between groups; then for each schedule that is compared its name and its bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "reserve.h"

/* What a communicator has until something was measured: a network of 100 Gbit/s. */
static const struct costs usual = {.node_latency = 0.2e-6,
                                   .node_byte = 1 / 8e9,
                                   .fabric_latency = 2e-6,
                                   .fabric_byte = 1 / 10e9,
                                   .fabric_message = 0.2e-6};

/* The schedules that are compared, and how often each is gone through for a collective of so many bytes in all. */
static const struct rival {
    enum collective collective;
    const char *name;
    struct {
        enum crossing_kind kind;
        int times;
    } part[2];
} rivals[] = {
    {COLL_BCAST, "binomial", {{CROSSING_TREE, 1}}},
    {COLL_BCAST, "binomial, near first", {{CROSSING_TREE_DOUBLING, 1}}},
    {COLL_BCAST, "ring", {{CROSSING_SCATTER, 1}, {CROSSING_RING, 1}}},
    {COLL_BCAST, "Bine", {{CROSSING_BINE_TREE, 1}}},
    {COLL_REDUCE, "binomial", {{CROSSING_TREE, 1}}},
    {COLL_REDUCE, "binomial, near first", {{CROSSING_TREE_DOUBLING, 1}}},
    {COLL_REDUCE, "ring", {{CROSSING_SCATTER, 1}, {CROSSING_RING, 1}}},
    {COLL_REDUCE, "Bine", {{CROSSING_BINE_TREE, 1}}},
    {COLL_ALLREDUCE, "binomial", {{CROSSING_HALVING_FAR_BACK, 1}}},
    {COLL_ALLREDUCE, "binomial, near first", {{CROSSING_HALVING, 1}}},
    {COLL_ALLREDUCE, "ring", {{CROSSING_RING, 2}}},
    {COLL_ALLREDUCE, "Bine", {{CROSSING_BINE_BACK, 1}}},
    {COLL_ALLGATHER, "binomial", {{CROSSING_GROWING, 1}}},
    {COLL_ALLGATHER, "binomial, far first", {{CROSSING_FAR, 1}}},
    {COLL_ALLGATHER, "ring", {{CROSSING_RING, 1}}},
    {COLL_ALLGATHER, "Bine", {{CROSSING_BINE_GATHER, 1}}},
    {COLL_REDUCE_SCATTER, "binomial", {{CROSSING_HALVING_FAR, 1}}},
    {COLL_REDUCE_SCATTER, "binomial, near first", {{CROSSING_NEAR, 1}}},
    {COLL_REDUCE_SCATTER, "ring", {{CROSSING_RING, 1}}},
    {COLL_REDUCE_SCATTER, "Bine", {{CROSSING_BINE, 1}}},
};
static const enum collective collectives[] = {COLL_BCAST, COLL_REDUCE, COLL_ALLREDUCE, COLL_ALLGATHER,
                                              COLL_REDUCE_SCATTER};

/* The ranks of `nodes` nodes, in order, and where these are. */
static struct coll_comm make(const struct address *addresses, int nodes, int ppn)
{
    const int ranks = nodes * ppn;
    int *numbers = reserve_get((3 * (size_t)ranks + (size_t)nodes + 1) * sizeof *numbers);
    int *node_of = numbers, *local_of = node_of + ranks, *members = local_of + ranks, *first = members + ranks;
    for (int rank = 0; rank < ranks; rank++) {
        node_of[rank] = rank / ppn;
        local_of[rank] = rank % ppn;
        members[rank] = rank;
    }
    for (int node = 0; node <= nodes; node++)
        first[node] = node * ppn;
    struct coll_comm comm = {.ranks = ranks, .served = true, .costs = usual};
    comm.topology = (struct topology){.ranks = ranks,
                                      .nodes = nodes,
                                      .locals = ppn,
                                      .most = ppn,
                                      .least = ppn,
                                      .regular = true,
                                      .in_order = true,
                                      .blocked = true,
                                      .node_of = node_of,
                                      .local_of = local_of,
                                      .first = first,
                                      .members = members,
                                      .levels.in_order = true,
                                      .places = places_create(addresses, nodes, TAPER)};
    return comm;
}

/* `all`: bytes of the vector, or of all that is gathered. */
static void report(int job, const struct coll_comm *comm, enum collective collective, int64_t all)
{
    struct shape shape = {.bytes = all, .element = 8, .commutative = true};
    if (collective == COLL_ALLGATHER)
        shape.bytes = all / comm->ranks > 0 ? all / comm->ranks : 1;
    const double vector = collective == COLL_ALLGATHER ? (double)shape.bytes * comm->ranks : (double)all;
    const struct algorithm *ours = choice_of_costs(comm, collective, &shape);
    printf("%d\t%s\t%lld\t%s\t%.9g\t%.9g", job, collective_names[collective], (long long)all, ours->name,
           algorithm_cost(ours, comm, &shape), algorithm_crosses(ours, comm, &shape).total);
    for (size_t i = 0; i < sizeof rivals / sizeof *rivals; i++) {
        double total = 0;
        for (int k = 0; k < 2 && rivals[i].collective == collective; k++)
            total += rivals[i].part[k].times * vector *
                     crossing_of(comm->topology.places, rivals[i].part[k].kind, false).total;
        if (rivals[i].collective == collective)
            printf("\t%s\t%.9g", rivals[i].name, total);
    }
    printf("\n");
}

static int read_groups(char *line, struct address *addresses, int most)
{
    int nodes = 0;
    for (char *end; nodes < most; line = end, nodes++) {
        unsigned long group = strtoul(line, &end, 10);
        if (end == line)
            break;
        addresses[nodes] = (struct address){.known = true};
        for (int level = 0; level < SWITCH_LEVELS; level++)
            addresses[nodes].level[level] = group;
    }
    return nodes;
}

int main(int argc, char **argv)
{
    enum { MOST = 1 << 16, STEPS = 10, FIRST = 1024 };
    struct address *addresses = malloc(MOST * sizeof *addresses);
    char *line = NULL;
    size_t room = 0;
    int ppn = argc == 2 ? atoi(argv[1]) : 0;
    if (ppn < 1 || addresses == NULL || !reserve_start(1)) {
        fprintf(stderr, "allocations PPN < lines\n");
        return 2;
    }
    for (int job = 0; getline(&line, &room, stdin) > 0; job++) {
        int nodes = read_groups(line, addresses, MOST);
        struct coll_comm comm = make(addresses, nodes > 0 ? nodes : 1, ppn);
        int64_t bytes = FIRST;
        for (int step = 0; step < STEPS && comm.topology.places != NULL; step++, bytes *= 4)
            for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
                report(job, &comm, collectives[i], bytes);
        places_free(comm.topology.places);
        reserve_put((void *)(uintptr_t)comm.topology.node_of);
    }
    free(line);
    free(addresses);
    return 0;
}
