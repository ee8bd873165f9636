/* All ranks of the launch: who shares a node with whom, and the synchronisation among them that is ours alone.
   Within a node flags in shared memory; between the first ranks of the nodes ("leaders") a binomial tree of messages
   on a private communicator. No collective operation of the library is used after team_create(). */
#ifndef UNISONO_TEAM_H
#define UNISONO_TEAM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problem.h"
#include "segment.h"
#include "wait.h"

enum {
    TEAM_VALUES = 4 * 256, /* int64 values a rank contributes to one team_maximum() */
    TEAM_SHARE = 65536,    /* bytes that travel in one step of team_share() */
};

struct team_node; /* what the ranks of a node share, see team.c */
struct team_rank;

struct team {
    MPI_Comm comm; /* private copy of MPI_COMM_WORLD */
    MPI_Comm node_comm;
    int rank, ranks;
    int local, locals; /* rank and ranks within the node */
    int node, nodes;
    int *leaders; /* world rank of the first rank of every node */
    struct wait wait;
    struct segment segment;
    struct team_node *shared;
    struct team_rank *slots;
    uint64_t sequence;
    bool common_clock; /* all nodes read the same clock */
    int64_t offset;    /* add to clock_now() for the time of rank 0 */
    int64_t clock_error;
};

bool team_create(struct team *team, struct problem *problem);
void team_free(struct team *team);

/* Everybody waits until all are here (team_gather) and for rank 0's word (team_release), which carries a value. */
void team_gather(struct team *team);
int64_t team_release(struct team *team, int64_t value);
void team_barrier(struct team *team);

/* `bytes` bytes of rank 0 for everybody. */
void team_share(struct team *team, void *data, size_t bytes);

/* Element-wise maximum over all ranks, on rank 0 only; count <= TEAM_VALUES. Others' values may be overwritten. */
void team_maximum(struct team *team, int64_t *values, int count);

/* The same, for everybody. */
void team_maximum_all(struct team *team, int64_t *values, int count);

/* Element-wise sum over all ranks, on rank 0 only; count <= TEAM_VALUES. Others' values may be overwritten. */
void team_sum(struct team *team, int64_t *values, int count);

/* True on all ranks when none has a problem. Otherwise rank 0's holds the sentence of the lowest rank that has one. */
bool team_agree(struct team *team, struct problem *problem);

/* Sum over the ranks of this node, for all of them. */
int64_t team_node_sum(struct team *team, int64_t value);

/* Finds how far each node's clock is from rank 0's; does nothing where all read the same clock. */
void team_synchronise_clocks(struct team *team);

static inline int64_t team_now(const struct team *team)
{
    return clock_now() + team->offset;
}

#endif
