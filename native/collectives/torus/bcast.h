/* Broadcast down trees over a cuboid of nodes, and what of it allreduce and allgather are made of. */
#ifndef UNISONO_TORUS_BCAST_H
#define UNISONO_TORUS_BCAST_H

#include "../collectives.h"
#include "flow.h"

struct torus_way {
    bool links; /* link trees; else the short tree (trees.h) */
    bool
        several; /* several processes of a node drive the trees, and its phases overlap; else one, and after it the node */
};

/* How many trees, and how many processes of a node drive them: the same on all ranks. */
int torus_way_trees(const struct coll_comm *comm, struct torus_way way);
int torus_way_drivers(const struct coll_comm *comm, struct torus_way way);
/* Which of the drivers has this tree. */
static inline int torus_driver(int tree, int trees, int drivers)
{
    return tree * drivers / trees;
}

/* The stream of a tree, without data: who is above and below of this rank, which is `local` of its node or, at the root's
 * node, `root_local`. */
void torus_stream(const struct coll_comm *comm, struct torus_way way, int tree, int root_node, int local,
                  int root_local, struct stream *stream);

/* What the link trees' algorithms say of themselves, and what is taken instead where it is asked for: the shortest
 * time of `passes` passes through trees, p segments in (passes * depth + p) (latency + segment * byte) seconds. */
enum { TORUS_SEGMENT = 16384 };
int64_t torus_segment(const struct coll_comm *comm, struct torus_way way, int passes, int64_t bytes, int64_t segment);

int torus_bcast(struct coll_comm *comm, struct torus_way way, int root, void *data, int64_t bytes, int64_t segment);

/* Seconds of one pass down over the nodes; of a broadcast with what the nodes do. */
double torus_pass_cost(const struct coll_comm *comm, struct torus_way way, int64_t bytes, int64_t segment);
double torus_bcast_cost(const struct coll_comm *comm, struct torus_way way, int64_t bytes, int64_t segment);

#endif
