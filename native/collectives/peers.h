/* What communicators of the same ranks, in the same order, have in common: where the ranks are, one private communicator,
 * and memory that the ranks of a node share.
 *
 * Each of those communicators has a slot: lines of its own in that memory (node/cells.h), and tags of its own on the
 * private communicator, so whatever is done on one of them never meets what is done on another. Cells are long, and lent
 * to who writes next: a rank writes into its own ones for another communicator when all have read what it wrote there
 * before. That is a wait for others to leave earlier calls, which MPI permits where a process has one thread at a time
 * in MPI; with MPI_THREAD_MULTIPLE every communicator has all for itself. So it has where the MPI library goes on when
 * processes fail: a program may revoke one communicator and use another.
 *
 * Everything here is agreed upon over a communicator in one allreduce, at a call that all its ranks make. */
#ifndef UNISONO_PEERS_H
#define UNISONO_PEERS_H

#include "collectives.h"
#include "failure.h"
#include "node/cells.h"

enum {
    PRIVATE_MOST = 256, /* private communicators at a time, and copies: MPICH has 2,048 contexts for all */
    SLABS_MOST = 9,     /* 1, 15, 30, 60 ... lines for one slot each */
    SLOTS_TOGETHER = 3826,
};

struct slot {
    uint64_t step, known; /* of the node, where the last communicator that had it left off */
    int next_free;        /* -1: the last */
};

struct peers {
    int users, ranks;
    bool is_listed; /* found by the next communicator of these ranks */
    int *world;     /* their numbers in MPI_COMM_WORLD */
    struct topology topology;
    bool crowded;            /* somewhere ranks have no CPU each: the same on all of them */
    MPI_Comm comm;           /* MPI_COMM_NULL: none yet */
    struct failure *failure; /* of any of them, on whichever communicator */
    int64_t serial;          /* the same on all ranks; -1: no private communicator yet */
    int64_t waited;          /* nanoseconds of use, of communicators that came too early since something was made */
    int *process;            /* of the ranks of this node */
    struct slot *slots;
    int slot_count, free_slot;
    int slab_count;
    struct segment slabs[SLABS_MOST];
    struct cells cells;
    void *kept; /* of who is above, for all of them; freed with `kept_free` */
    void (*kept_free)(void *);
    struct peers *next;
};

/* Local, and the same on all ranks: whether all of a communicator's ranks were in MPI_COMM_WORLD, which says too that all of them have this
 * library. What others may not know of must not be asked where one was not. Where finding it out takes long (MEMBERS_UNKNOWN) ours serve
 * nothing: then it is looked for by whoever has to know it all the same, `at_any_cost`, and else false. */
bool peers_were_there(MPI_Comm comm, bool at_any_cost);
/* Local: those of a communicator. NULL: a rank was not in MPI_COMM_WORLD, or no memory. */
struct peers *peers_find(MPI_Comm comm);
/* Local, but for freeing the private communicator with its last user. */
void peers_leave(struct peers *peers);

/* Collective over `user`: a slot of its peers for it, and the private communicator, or lines for more slots, if there are none.
 * These are only made when `lived`, the nanoseconds that `user` has been in use since it last asked, with those of all that came
 * too early, is PEERS_REPAID times what making them takes, or PEERS_NOW. Else a slot costs about as much as a call.
 * The same answer on all ranks: MPI_SUCCESS and a slot, or -1 for it is too early; or an error code, for it cannot be.
 * `good`: what this rank has to say about it. *peers may become another, in the place of what was given. */
enum { PEERS_REPAID = 10 };
#define PEERS_NOW INT64_MAX
int peers_join(struct peers **peers, MPI_Comm user, bool good, int64_t lived, int *slot);
/* Local: nobody on this rank uses it any more. */
void peers_give(struct peers *peers, int slot, uint64_t step, uint64_t known);

/* The lines of a slot in the memory of this node; .base is NULL where its ranks share none. Not to be freed. */
struct segment peers_lines(const struct peers *peers, int slot);

/* Whether all nodes with several ranks have them: the same on all ranks. */
bool peers_have_lines(const struct peers *peers, int slot);

/* Whether this process may have one more private communicator, or copy of one; it says when it has made or freed some. */
bool peers_may_add(void);
void peers_added(int count);

#endif
