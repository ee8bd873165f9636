#include "../group/cost.h"
#include "domains.h"

struct domains_way domains_way_of(const struct coll_comm *comm, const double *meet, double more)
{
    const struct levels *levels = &comm->topology.levels;
    struct domains_way way = {0};
    int depth[LEVELS + 1], below = levels->count + 1;
    way.count = levels_choose(levels, meet, more, depth);
    for (int level = 0; level < way.count; level++) {
        const int at = way.depth[level] = depth[way.count - 1 - level];
        way.meet[level] = levels->meet[at];
        way.width[level] = levels->widest[at][below];
        below = at;
    }
    return way;
}

struct domains_way domains_way(const struct coll_comm *comm)
{
    return domains_way_of(comm, comm->costs.meet, comm->costs.meet_more);
}

double domains_latency(const struct coll_comm *comm, const struct domains_way *way, double first, double each)
{
    double seconds = 0;
    for (int level = 0; level < way->count; level++)
        seconds += cost_meet(comm, way->meet[level], way->width[level], first, each);
    return seconds;
}

double domains_waits(const struct coll_comm *comm, const struct domains_way *way, int ways, int64_t bytes)
{
    const int64_t pieces = bytes > DOMAINS_SEGMENT ? (bytes + DOMAINS_SEGMENT - 1) / DOMAINS_SEGMENT : 1;
    return cost_wait(comm) * ways * (way->count - 1) * (double)pieces;
}

int domains_read(const struct domains_way *way)
{
    int ranks = 0;
    for (int level = 0; level < way->count; level++)
        ranks += way->width[level] - 1;
    return ranks;
}
