/* One node in two levels: the ranks of each NUMA domain among themselves, and over them the first of each domain, which
 * leads it. Each level is a node of its own, with a segment, lines and cells, so what most ranks poll and read lies in
 * their own domain, and only leaders read what another domain wrote.
 *
 * Graham and Shipman, MPI support for multi-core architectures: optimized shared memory collectives (2008). Katevenis,
 * Ploumidis and Marazakis, A framework for hierarchical single-copy MPI collectives on multicore nodes (2022): XHC; its
 * leaders change with the root. Here a root that does not lead has its leader hear first, in its own domain.
 *
 * Only where the communicator is of one node with ranks in two domains or more, one of which has two or more
 * (domains_apply). Where memory for it is refused, the ways of one level (node.h). MPI error codes. */
#ifndef UNISONO_NODE_DOMAINS_H
#define UNISONO_NODE_DOMAINS_H

#include "../collectives.h"
#include "cells.h"

/* A level is a communicator of one node to the phases of node/, over the messages of the one it is part of. */
struct level {
    struct coll_comm comm; /* comm.node is NULL on ranks that are not of it */
    struct cells cells;
    int *ranks; /* the memory of its topology: where members begin and end, then members */
};

struct domains {
    bool refused;
    struct level inner, outer; /* this rank's domain; the leaders, in order of their domains */
    int *domain_of, *place_of; /* by local number: its domain, its number there; 0 leads */
};

/* Bytes that go up or down a level at a time, by default; the largest element: it must be in a cell of any size. */
enum { DOMAINS_SEGMENT = 16 << 10, DOMAINS_ELEMENT = 4 << 10 };

/* Whether there are such domains, and, for reductions, whether elements can be combined in them. */
bool domains_apply(const struct coll_comm *comm, const struct shape *shape);

int domains_barrier(struct coll_comm *comm);
int domains_bcast(struct coll_comm *comm, int root, void *data, int64_t bytes, int64_t segment);
/* Combined in each domain in order of its ranks, then domains in order: in rank order only where the topology has
 * domains_in_order. */
int domains_reduce(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                   const struct reduction *reduction, int64_t segment);
int domains_allreduce(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                      const struct reduction *reduction, int64_t segment);

/* What a step costs that all ranks of the fullest domain and then all leaders take: `factor` times a node's latency for
 * each, and `each` more for every rank that is waited for. Never measured on a machine with real domains. */
static inline double domains_latency(const struct coll_comm *comm, double factor, double each)
{
    const struct topology *topology = &comm->topology;
    return comm->costs.node_latency * (2 * factor + each * (topology->domains + topology->largest_domain));
}

void domains_free(struct coll_comm *comm);

#endif
