/* How many members exchange at once: from the costs that all ranks have in common, so that all come to the same. */
#ifndef UNISONO_GROUP_ROUNDS_H
#define UNISONO_GROUP_ROUNDS_H

#include "cost.h"
#include "group.h"
#include "radix.h"

typedef struct radices rounds_find(const struct coll_comm *comm, int members, double bytes);

/* The box of a torus whose places the nodes follow, along one dimension after the other; NULL: there is none. */
static inline const struct torus *rounds_torus(const struct topology *topology)
{
    const struct cuboid *cuboid = &topology->cuboid;
    if (cuboid->node_at == NULL)
        return NULL;
    int place = 1;
    for (int d = 0; d < cuboid->torus.dimensions; place *= cuboid->torus.extent[d++])
        if (cuboid->node_at[place] != place)
            return NULL;
    return cuboid->node_at[place - 1] == place - 1 ? &cuboid->torus : NULL;
}

/* Rounds of messages that take `each` seconds beside their latency, or a vector that takes `all`. fabric_latency is that over distances of 1,
   2, 4 ... on average, which is what a hop follows from. */
static inline struct round_cost rounds_cost(const struct coll_comm *comm, double each, double all)
{
    const struct costs *costs = &comm->costs;
    const double near = cost_neighbour(costs);
    struct round_cost cost = {.first = near + each,
                              .more = costs->fabric_message + each,
                              .spread = all / 4,
                              .torus = rounds_torus(&comm->topology)};
    double further = 0;
    int distances = 0;
    if (costs->fabric_latency <= near)
        return cost;
    for (int64_t distance = 1; distance < comm->topology.nodes; distance *= 2, distances++)
        further += radix_further(cost.torus, 2, (int)distance);
    cost.hop = further > 0 ? (costs->fabric_latency - near) * distances / further : 0;
    return cost;
}

/* Whole vectors of so many bytes, which are sent to each and combined. */
static inline struct radices rounds_multiplying(const struct coll_comm *comm, int members, double bytes)
{
    const double each = bytes * comm->costs.fabric_byte + cost_combine(comm, bytes);
    return radices_for(members, rounds_cost(comm, each, 0), 2 * (comm->costs.fabric_latency + each));
}

/* The members of the largest circle, at least 2. */
static inline int rounds_widest(const struct radices *radices)
{
    int widest = 2;
    for (int round = 0; round < radices->rounds; round++)
        widest = radices->factor[round] > widest ? radices->factor[round] : widest;
    return widest;
}

/* Parts: whatever the factors, (members - 1) / members of all bytes are sent, and so many received. */
static inline struct round_cost rounds_of_parts(const struct coll_comm *comm, double bytes)
{
    return rounds_cost(comm, 0, bytes * comm->costs.fabric_byte);
}

static inline struct radices rounds_dividing(const struct coll_comm *comm, int members, double bytes)
{
    double fold = 2 * (comm->costs.fabric_latency + bytes * comm->costs.fabric_byte) + cost_combine(comm, bytes);
    return radices_for(members, rounds_of_parts(comm, bytes), fold);
}

/* The same one way, after or before which everybody has its own block alone. */
static inline struct radices rounds_folding(const struct coll_comm *comm, int members, double bytes)
{
    double fold = 2 * comm->costs.fabric_latency + bytes * comm->costs.fabric_byte + cost_combine(comm, bytes);
    return radices_for(members, rounds_of_parts(comm, bytes), fold);
}

/* The same along Bine butterflies. */
static inline struct radices rounds_bine(const struct coll_comm *comm, int members, double bytes)
{
    double fold = 2 * comm->costs.fabric_latency + bytes * comm->costs.fabric_byte + cost_combine(comm, bytes);
    struct radices pairs = radices_bine(members);
    pairs.cost = radices_bine_cost(&pairs, members, rounds_of_parts(comm, bytes), fold);
    return pairs;
}

/* Of trees that are the same from every member: as many as these members or a few more, so that there are factors; the cheapest. */
static inline struct radices rounds_covering(const struct coll_comm *comm, int members, double bytes)
{
    return radices_covering(members, rounds_of_parts(comm, bytes));
}

static inline struct dissemination rounds_disseminating(const struct coll_comm *comm, int members)
{
    return dissemination_of(members, rounds_of_parts(comm, 0), 0);
}

/* An alltoall of blocks of so many bytes, when `at_once` ranks of a node do the same. A block that travels is copied twice by its
   sender and once by its receiver. */
static inline struct dissemination rounds_bruck(const struct coll_comm *comm, int members, double bytes, int at_once)
{
    const struct costs *costs = &comm->costs;
    struct round_cost cost = rounds_cost(comm, 0, 0);
    cost.more *= at_once;
    return dissemination_of(members, cost, bytes * (costs->fabric_byte * at_once + 3 * costs->node_byte));
}

/* What its messages take longer than those of near members do. */
static inline double rounds_bruck_spread(const struct coll_comm *comm, int members, double bytes, int radix)
{
    double seconds = 0;
    for (int64_t distance = 1; distance < members; distance *= radix) {
        const int64_t partners = (members - 1) / distance;
        const int circle = partners < radix - 1 ? (int)partners + 1 : radix;
        seconds += bytes * (double)bruck_blocks(members, distance, radix) / (circle - 1) * comm->costs.fabric_byte / 4 *
                   radix_doublings(circle, (int)distance);
    }
    return seconds;
}

/* The same, kept with the communicator: finding factors takes longer than a short message. */
const struct radices *rounds_of_call(struct coll_comm *comm, int members, int64_t bytes, rounds_find *find);

/* Messages to and from the others of a circle. */
struct round {
    const struct group *group;
    int count;
    MPI_Request requests[2 * RADIX_MOST];
};

int round_receive(struct round *round, void *data, int64_t bytes, int member);
int round_send(struct round *round, const void *data, int64_t bytes, int member);
/* `error`: what was met so far. */
int round_finish(struct round *round, int error);

/* What circle.factor - 1 others sent, of `bytes` each and one after the other, and the own vector, in order of their digits. */
void round_combine(const struct circle *circle, char *others, char *own, int64_t bytes,
                   const struct reduction *reduction);

#endif
