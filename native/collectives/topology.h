/* Which ranks of a communicator share a node, and where the nodes are. Values are the same on all ranks but for those of
 * this rank. */
#ifndef UNISONO_TOPOLOGY_H
#define UNISONO_TOPOLOGY_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "members.h"
#include "places/places.h"
#include "torus/torus.h"

struct topology {
    int rank, ranks;
    int nodes;            /* numbered in order of their lowest ranks in this communicator */
    int node;             /* this rank's */
    int local, locals;    /* this rank's place on its node, and how many ranks the node has */
    int most, least;      /* ranks on a node */
    bool regular;         /* most == least */
    bool in_order;        /* members[i] == i: the ranks of a node follow one another */
    bool blocked;         /* in order and regular: rank = node * most + local */
    const int *node_of;   /* rank -> node */
    const int *local_of;  /* rank -> place on its node */
    const int *first;     /* node -> where its ranks begin in `members`; first[nodes] == ranks */
    const int *members;   /* ranks by node, ascending within a node */
    struct levels levels; /* how the ranks of one node lie in it; of several nodes none */
    struct cuboid
        cuboid; /* the nodes as a box on a torus or mesh; node_at is NULL when they are none (coordinates.h) */
    struct places *places; /* which nodes are near one another; NULL: not known, or all are */
    struct tables *tables; /* what all of that lies in; NULL where it is somebody else's */
};

/* The world, before any other; collective over MPI_COMM_WORLD. Does nothing the second time.
 *
 * For tests: where all ranks are on one machine, the environment variable UNISONO_FAKE_NODES makes several nodes of it.
 * "2": every two ranks are a node; "2,1,3": nodes of so many ranks, over and over; "%3": three nodes, in turn.
 * So UNISONO_FAKE_NUMA divides the ranks of each node into domains (levels.h). */
int topology_start(void);
/* Before the first of these: whether what algorithms do may depend on which nodes are near one another. Usually so; where results
 * have to be the same from job to job, not. The same on all ranks. */
void topology_heed_places(bool heed);
void topology_end(void);

/* What is known of the machine, in words, as this rank sees it: domains of its node, coordinates and who told them. */
void topology_describe(char *text, size_t bytes);

/* The lowest rank of MPI_COMM_WORLD on the node of this one. */
int topology_first_on_node(int rank);

/* Local: communicators are looked at through the world. False when a rank was not in MPI_COMM_WORLD, when finding them out
 * would take too long (members.h), or no memory. Communicators of the world's ranks in their order share their tables. */
bool topology_create(struct topology *topology, MPI_Comm comm);
void topology_free(struct topology *topology);

/* Local: the number in MPI_COMM_WORLD of each of its ranks, of which there are so many. */
enum members topology_world_ranks(MPI_Comm comm, int ranks, int *theirs);
/* members_were_there() */
bool topology_were_there(MPI_Comm comm, int ranks, int *theirs);

/* The rank at this place of this node. */
static inline int topology_rank(const struct topology *topology, int node, int local)
{
    return topology->members[topology->first[node] + local];
}

static inline int topology_locals(const struct topology *topology, int node)
{
    return topology->first[node + 1] - topology->first[node];
}

#endif
