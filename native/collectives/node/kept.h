/* Persistent collectives of the ranks of one node.
 *
 * Ranks may start persistent collectives in any order, each its own; they are matched when they are made, which all ranks do in
 * the same order, and where MPI lets them wait for one another (MPI 4.1, 6.13). So each has a place of its own in shared
 * memory from then on: of each rank a few slots, which its starts take in turn. A slot is a counter, and what the rank gives: in
 * the counter's own line, or behind the lines where that is too long. With start number k (from 0) a rank writes what it gives
 * into slot k modulo their number and then sets its counter to k + 1; whoever awaits that reads it when the counter has got there.
 * So it is local, and the operation needs of other ranks only that they have started it, too.
 *
 * A slot must not be written again before all have read it. No start waits for that; the end of the start before does:
 *   - Where each rank awaits all others (allreduce, allgather, alltoall, reduce_scatter_block, barrier) there is nothing to
 *     do. A rank whose start k is over has seen that all have started k, hence that start k - 1 was over for all of them: MPI
 *     lets nobody start a request before it is inactive. With two slots the next start's is free.
 *   - Else (bcast, scatter, gather, reduce, scans, neighbourhoods) each rank says how many of its starts are over, and with S slots one that gives
 *     is not at the end of start k before all who read what it gives are over with start k + 1 - S. No correct program can tell
 *     from waiting for ever: MPI lets a collective end only when all have started it, and once all have started k,
 *     start k - 1 is over for all, and so is k + 1 - S, as S is 2 or more. Nobody who waits depends on more than starts:
 *     not on another rank's being inside of MPI, nor on what it does there.
 *
 * Which place a request has, or that it has none and is the MPI library's, local number 0 decides for all as they make it, one
 * after the other: its n-th decision is in a ring of words, which all others wait for. It may use a place again when all
 * ranks have given that back, and then sets the counters there to 0 before it says so. */
#ifndef UNISONO_NODE_KEPT_H
#define UNISONO_NODE_KEPT_H

#include "kept_room.h"
#include "posts.h"

enum { KEPT_SLOTS_MOST = 4, KEEP_DECISIONS = 32 };

/* One rank's part of a place; longer data is behind the lines. */
struct kept_part {
    _Alignas(LINE_BYTES) _Atomic uint64_t over; /* starts that are over for it */
    _Atomic int back;                           /* of local number 0: ranks that have given the place back */
    struct post_line lines[];
};

/* One rank's part of the memory; places are behind it. */
struct keep_part {
    _Alignas(LINE_BYTES) _Atomic uint64_t heard; /* decisions that it knows */
    /* Of local number 0: the decision's number, plus 1 (32 bits) | where the place is, in lines, or 0: it is the MPI library's */
    _Alignas(LINE_BYTES) _Atomic uint64_t decision[KEEP_DECISIONS];
};

/* Memory for the persistent collectives of some ranks, as one of them has it. */
struct keep {
    struct coll_comm *comm; /* for those that wait */
    struct segment segment;
    int rank, ranks;
    uint64_t decided, known; /* decisions that this rank knows; that all know, as far as this one has looked */
    struct kept_room room;   /* of local number 0 */
    int64_t used;            /* of it, too: what is behind has never been used */
};

/* One request, as this rank has it. */
struct kept {
    struct keep *keep;
    struct call call;
    int64_t at, given, apart; /* of its place; bytes that a rank gives; from slot to slot, of longer data */
    int slots;
    bool is_long;
    uint64_t starts;               /* so far */
    int seen, until;               /* ranks whose data is not awaited any more; up to which it is: given_expected() */
    bool reads;                    /* others wait until this rank has read */
    int first_reader, readers_end; /* for whom (given_reader()) this rank waits, but for itself: up to below */
    uint64_t read;                 /* what is known of them: `over` of the least */
};

static inline struct kept_part *kept_part_of(const struct kept *kept, int local)
{
    return (struct kept_part *)(void *)(segment_of(&kept->keep->segment, local) + kept->at);
}

/* Local. A rank for which one of these is false must say so to the others: then none has it. `keep->comm` is there, without memory;
 * local number 0 offers that, and the others take it (segment.h). */
bool keep_offer(struct keep *keep, struct shared_place *place, int *file);
bool keep_take(struct keep *keep, const struct shared_place *place);
void keep_free(struct keep *keep);

/* A request that all ranks make at once, with the call that each start is; all but who gets what is the same on all of them.
 * Waits for local number 0. False, on all: it is the MPI library's. */
bool kept_make(struct kept *kept, struct keep *keep, const struct call *call);
/* This rank has done with it. */
void kept_give_back(struct kept *kept);

/* What the call's `send` has is given. Local. */
void kept_start(struct kept *kept);
/* Whether the last start is over, which then has its result. Local, and waits for nobody. */
bool kept_is_over(struct kept *kept);

#endif
