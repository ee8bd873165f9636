/* Nonblocking collectives of one node, all in the same way: node/posts.h. */
#include "../node/cells.h"
#include "../node/posts.h"

/* Everybody posts, and this rank reads `read` bytes of what others have posted: seconds. */
static double cost_of(const struct coll_comm *comm, double lines, double read)
{
    return comm->costs.node_latency * (1 + 0.1 * lines) + comm->costs.node_byte * read;
}

static double cost_all(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of(comm, comm->ranks, (double)shape->bytes * comm->ranks);
}

static double cost_one(const struct coll_comm *comm, const struct shape *shape)
{
    return cost_of(comm, 1, (double)shape->bytes);
}

/* Nobody knows how long blocks are. */
static double cost_none(const struct coll_comm *comm, const struct shape *shape)
{
    (void)shape;
    return cost_of(comm, comm->ranks, 0);
}

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    return posts_run(comm, call);
}

#define POSTED(small, large, how, sentence)                                                                            \
    static bool applies_##small(const struct coll_comm *comm, const struct shape *shape)                               \
    {                                                                                                                  \
        return posts_fit(comm, COLL_##large, shape);                                                                   \
    }                                                                                                                  \
    const struct algorithm small##_posted = {                                                                          \
        .name = #small "_posted",                                                                                      \
        .collective = COLL_##large,                                                                                    \
        .meaning = sentence,                                                                                           \
        .reference = "",                                                                                               \
        .applies = applies_##small,                                                                                    \
        .cost = cost_##how,                                                                                            \
        .run = run,                                                                                                    \
    };

POSTED(iallgather, IALLGATHER, all,
       "Everybody puts its block into shared memory at the call, and reads those of all others when it waits.")
POSTED(iallgatherv, IALLGATHERV, all,
       "Everybody puts its block into shared memory at the call, and reads those of all others when it waits.")
POSTED(iallreduce, IALLREDUCE, all,
       "Everybody puts its vector into shared memory at the call, and combines those of all when it waits.")
POSTED(ialltoall, IALLTOALL, all,
       "Everybody puts its blocks into shared memory at the call, and reads its own from all others when it waits.")
POSTED(
    ialltoallv, IALLTOALLV, none,
    "Everybody puts its short blocks into shared memory at the call, and reads its own from all others when it waits.")
POSTED(
    ialltoallw, IALLTOALLW, none,
    "Everybody puts its short blocks into shared memory at the call, and reads its own from all others when it waits.")
POSTED(ibarrier, IBARRIER, all,
       "Everybody says in shared memory that it has come, and looks for all others when it waits.")
POSTED(ibcast, IBCAST, one,
       "The root puts the message into shared memory at the call; the others read it when they wait.")
POSTED(iexscan, IEXSCAN, all,
       "Everybody puts its vector into shared memory at the call, and combines those before it when it waits.")
POSTED(igather, IGATHER, all,
       "Everybody puts its block into shared memory at the call; the root reads them when it waits.")
POSTED(igatherv, IGATHERV, none,
       "Everybody puts its block, if it is short, into shared memory at the call; the root reads them when it waits.")
#define NEAR(small, large)                                                                                             \
    POSTED(ineighbor_##small, INEIGHBOR_##large, none,                                                                 \
           "Everybody puts its short blocks into shared memory at the call, and reads its neighbours' when it waits.")
NEAR(allgather, ALLGATHER)
NEAR(allgatherv, ALLGATHERV)
NEAR(alltoall, ALLTOALL)
NEAR(alltoallv, ALLTOALLV)
NEAR(alltoallw, ALLTOALLW)
POSTED(ireduce, IREDUCE, all,
       "Everybody puts its vector into shared memory at the call; the root combines them when it waits.")
POSTED(ireduce_scatter, IREDUCE_SCATTER, all,
       "Everybody puts its vector into shared memory at the call, and combines its block of all when it waits.")
POSTED(ireduce_scatter_block, IREDUCE_SCATTER_BLOCK, all,
       "Everybody puts its vector into shared memory at the call, and combines its block of all when it waits.")
POSTED(iscan, ISCAN, all,
       "Everybody puts its vector into shared memory at the call, and combines those up to its own when it waits.")
POSTED(iscatter, ISCATTER, one,
       "The root puts all blocks into shared memory at the call; the others read theirs when they wait.")
POSTED(iscatterv, ISCATTERV, none,
       "The root puts short blocks into shared memory at the call; the others read theirs when they wait.")
