/* One node in several levels: the ranks of each of the innermost domains among themselves, over them the first of each,
 * which leads it, and so on up to the node. Each level is a node of its own, with a segment, lines and cells, so what most
 * ranks poll and read lies in their own domain, and only leaders read what another domain wrote.
 *
 * Graham and Shipman, MPI support for multi-core architectures: optimized shared memory collectives (2008). Katevenis,
 * Ploumidis and Marazakis, A framework for hierarchical single-copy MPI collectives on multicore nodes (2022): XHC; its
 * leaders change with the root. Here a root that does not lead has its leader hear first, in its own domain.
 *
 * Only where the communicator is of one node whose ranks are in domains (levels.h). Which of the depths make a level
 * follows from what was measured of them (levels_choose). Where memory for it is refused, the ways of one level (node.h).
 * MPI error codes. */
#ifndef UNISONO_NODE_DOMAINS_H
#define UNISONO_NODE_DOMAINS_H

#include "../collectives.h"
#include "cells.h"

/* A level is a communicator of one node to the phases of node/, over the messages of the one it is part of. */
struct level {
    struct coll_comm comm; /* comm.node is NULL on ranks that are not of it */
    struct cells cells;
    int *ranks;    /* the memory of its topology: where members begin and end, then members */
    int *home;     /* by local number: the domain that it, or who leads it, is in at this level */
    int *place_of; /* and its number there; 0 leads */
};

struct domains {
    bool refused;
    int count;                      /* levels, the innermost first; the last is of the whole node */
    int64_t cell;                   /* bytes of the smallest one of any level */
    struct level level[LEVELS + 1]; /* this rank leads in all before the last one that it is of */
    int *numbers;                   /* the memory of home and place_of */
};

/* Bytes that go up or down a level at a time, by default; the largest element: it must be in a cell of any size. */
enum { DOMAINS_SEGMENT = 16 << 10, DOMAINS_ELEMENT = 4 << 10 };

/* Whether there are such domains, and, for reductions, whether elements can be combined in them. */
bool domains_apply(const struct coll_comm *comm, const struct shape *shape);

int domains_barrier(struct coll_comm *comm);
int domains_bcast(struct coll_comm *comm, int root, void *data, int64_t bytes, int64_t segment);
/* Combined in each domain in order of its ranks, then domains in order: in rank order only where the topology's levels are
 * in_order. */
int domains_reduce(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                   const struct reduction *reduction, int64_t segment);
int domains_allreduce(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                      const struct reduction *reduction, int64_t segment);

/* The levels that calls go through, the innermost first: at what depth of the topology's levels, and of the node
 * (costs.meet), the ranks of each meet, and the most that do. Never measured on a machine with real domains. */
struct domains_way {
    int count, depth[LEVELS + 1], meet[LEVELS + 1], width[LEVELS + 1];
};
struct domains_way domains_way(const struct coll_comm *comm);
/* The same by other values of costs.meet and costs.meet_more. */
struct domains_way domains_way_of(const struct coll_comm *comm, const double *meet, double more);
/* What a step costs that is done at each level in turn (cost_meet). */
double domains_latency(const struct coll_comm *comm, const struct domains_way *way, double first, double each);
/* What ranks that share CPUs wait more than in one level, where every piece of so many bytes goes `ways` times through the others. */
double domains_waits(const struct coll_comm *comm, const struct domains_way *way, int ways, int64_t bytes);
/* Of how many ranks the one that leads everywhere reads what they have, in all. */
int domains_read(const struct domains_way *way);

void domains_free(struct coll_comm *comm);

#endif
