/* Nonblocking collectives of the ranks of one node.
 *
 * When its call begins a rank writes what it gives into shared memory. What it gets it reads there itself, when the program
 * waits or tests. So an operation needs of other ranks only that they have begun it: none has to be inside of MPI for it to go
 * on, and a program that computes between the two calls loses nothing.
 *
 * Operations are numbered as all ranks begin them. Those that are ours have a line of each rank (a counter, and data as far as
 * that fits) in a ring of POSTS, and longer data in a ring of bytes, the arena, at places that all ranks count alike. Before a
 * place is used again all ranks must have read what was in it; as a call that does not block must not wait for that, the MPI
 * library serves the operation then. All ranks must do alike, though they come at different times: the first that begins
 * an operation decides, by a compare-and-swap of one word.
 *
 *     word    number of the last operation that was decided (32 bits) | MPI's? (1 bit) | operations before it that are
 *             the MPI library's, too, without one of ours between (31 bits)
 *
 * A rank that comes later reads from it what any earlier operation is that it may still have to begin: from ours to the MPI
 * library's is a change that the word tells, and back it changes only when all ranks have begun all operations before.
 *
 * The memory is made by all ranks together, or one rank offers it to the others, who take it when they hear of that: some
 * later than others. An operation that a rank begins before it has the memory is the MPI library's, on all ranks: each says
 * with which operation it comes, and none is ours before the last of those. */
#ifndef UNISONO_NODE_POSTS_H
#define UNISONO_NODE_POSTS_H

#include <stdatomic.h>

#include "cells.h"

enum { POSTS = 64, POST_ROOM = LINE_BYTES - 16 };

/* One operation that this rank has begun. */
struct post {
    struct call call;
    uint64_t number; /* among those that are ours */
    int64_t at;      /* of longer data, in the arenas */
    bool is_long;
    bool is_mpis;    /* the MPI library's in any case, on all ranks that have the memory */
    int seen, until; /* ranks whose data is not awaited any more; up to which it is: given_expected() */
    void (*finish)(struct post *post, int error);
    struct post *next;
};

struct post_line {
    _Alignas(LINE_BYTES) _Atomic uint64_t count; /* the operation, plus 1 */
    bool is_here; /* of data that could be longer, and lie in the arena: this rank's is short, and lies here */
    _Alignas(16) unsigned char payload[POST_ROOM];
};

/* One rank's part of the memory; the arena is behind it. */
struct posts_rank {
    _Alignas(LINE_BYTES) _Atomic uint64_t begun; /* operations whose decision it has read */
    _Atomic uint64_t done;                       /* operations of ours that it has finished, in order */
    /* Of local number 0: */
    _Alignas(LINE_BYTES) _Atomic uint64_t word;
    _Atomic uint64_t first; /* the greatest of the operations with which ranks come to the memory */
    _Atomic int present;    /* ranks that have come */
    int64_t messages;       /* by what the messages of these ranks are told from others' */
    struct post_line lines[POSTS];
};

/* What a communicator has of it. */
struct posts {
    struct segment segment; /* .base is NULL: this rank does not have it yet */
    bool has_come;          /* this rank has, and counts on the others' doing so */
    bool complete;          /* all ranks have come */
    int rank, ranks;
    int64_t arena;        /* bytes */
    uint64_t begun, ours; /* operations so far, and those of ours */
    int64_t at;           /* in the arenas, the next */
    uint64_t known;       /* all ranks have finished those of ours below */
    int64_t from[POSTS];  /* where `at` was when each of the last ones began */
    struct post *first, *last;
};

static inline struct posts_rank *posts_part(const struct posts *posts, int local)
{
    return (struct posts_rank *)(void *)segment_of(&posts->segment, local);
}

/* Collective over the ranks of a communicator, which is on one node: comm->posts, or NULL where it cannot be had. The same on
 * all of them. */
bool posts_create(struct coll_comm *comm);
void posts_free(struct coll_comm *comm);

/* The same where ranks cannot wait for each other. Local: comm->posts without memory, so that operations are numbered from
 * here on, though all are the MPI library's. Then local 0 offers memory, of which it tells the others by `place` (*file has to
 * stay open until posts_complete()), with a number for `messages`; each of them takes it, and so comes; local 0 comes when it knows
 * what else they do before they come. Without it, or where a rank does not take it, all remain the MPI library's. */
void posts_announce(struct coll_comm *comm);
bool posts_offer(struct coll_comm *comm, int64_t messages, struct shared_place *place, int *file);
bool posts_take(struct coll_comm *comm, const struct shared_place *place);
void posts_come(struct posts *posts);
/* Whether all ranks have it. */
bool posts_complete(const struct posts *posts);

/* Whether there is room for such calls, and for this one: the same on all ranks. */
bool posts_fit(const struct coll_comm *comm, enum collective collective, const struct shape *shape);
bool posts_hold(const struct coll_comm *comm, const struct call *call);
/* Of calls whose ranks agree on no size: the longest block for which there is room in each (struct call's `piece`). As many of these
 * calls are under way together as twice the longest of the others. 0: there are too many. */
int64_t posts_piece(const struct coll_comm *comm, const struct call *call);

/* The parts of the two below. Whether the next operation, in which a rank gives at most so many bytes, is ours: the same on all
 * ranks. `may_wait`: for room. Then where what this rank gives belongs, and what another has given. */
bool posts_decide(struct posts *posts, struct post *post, int64_t bytes, bool (*may_wait)(void *), void *with);
unsigned char *posts_data(const struct posts *posts, const struct post *post, int local);
/* A rank's line. */
struct post_line *posts_line(const struct posts *posts, const struct post *post, int local);
void posts_give(struct posts *posts, const struct post *post);

/* The next operation, of which post->call and post->finish are set. Local. False: it is the MPI library's, on all ranks.
 * `blocks`: all ranks wait for it at once, so that it can wait for room, and is ours unless a rank has failed. */
bool posts_number(struct coll_comm *comm, struct post *post, bool blocks);
/* Begins it: what this rank gives has been read then. Local. */
void posts_post(struct coll_comm *comm, struct post *post);

/* Finishes what can be, in order, and calls what each has for that. Local, and waits for nobody. */
void posts_move(struct coll_comm *comm);
/* Another rank has failed: all end with its error. */
void posts_fail(struct coll_comm *comm);

/* The same as a call that blocks. MPI error code. */
int posts_run(struct coll_comm *comm, const struct call *call);

#endif
