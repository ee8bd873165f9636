/* The blocks of a call that does not block, or that is started again, whose lengths are each rank's own.
 *
 * What goes from one rank to another both know, and nobody else. So each block by itself goes through shared memory, where there is
 * as much room for it as all ranks know (posts_piece()), or, if it is longer, in a message of the MPI library's, which both
 * begin when they begin the call: nobody needs another rank's help for it but the MPI library's, as in any message. */
#ifndef UNISONO_PARTS_H
#define UNISONO_PARTS_H

#include "collectives.h"
#include "vectors.h"

/* What a rank sends, or gets. Arrays are by block, which is by rank, or by neighbour. */
struct part_side {
    int count;
    const int *rank; /* of each neighbour, below 0: nobody is there; NULL: block i is rank i's */
    bool is_one;     /* all blocks are the same one */
    char *data;      /* the program's */
    MPI_Datatype type;
    struct layout layout;
    MPI_Datatype *types;      /* instead, where each block has a type of its own; else NULL */
    struct layout *layouts;   /* so */
    MPI_Datatype *made;       /* types of our making, as the program may free its own */
    int mades;                /* how many */
    int64_t *counts, *places; /* elements, and bytes from `data` on */
    int64_t *bytes, *at;      /* of what goes through shared memory; where it is, from `room` or from `data` on */
    char *room;               /* where types have gaps; else NULL */
};

struct parts {
    struct part_side out, in;
    struct neighbours near; /* of neighbourhoods */
    int under_way;          /* of the messages */
    MPI_Request *message;
};

/* No blocks yet: one for each rank, or for each neighbour. parts_free() ends it; NULL is none. */
struct parts *parts_new(int ranks, bool has_types);
struct parts *parts_near(const struct neighbours *near, bool has_types);
void parts_free(struct parts *parts);

/* All blocks of a side, or that with one rank. `type`: not where each has its own. False: MPI forbids it. */
bool parts_all(struct part_side *side, const void *data, const struct dispatch_vector *given, MPI_Datatype type);
bool parts_one(struct part_side *side, int rank, const void *data, MPI_Count count, MPI_Datatype type);

/* Bytes of the longest block, and of all. */
int64_t parts_longest(const struct parts *parts);
int64_t parts_total(const struct part_side *side);

/* What the call with them is given, of which `collective`, `root` and `piece` are set: blocks that are longer do not go through shared
 * memory. `again`: more than once. MPI error codes. */
int parts_arrange(struct parts *parts, struct call *call, int rank, bool again);
/* From where the program has what goes through shared memory to where the call has it, and back. */
int parts_pack(const struct parts *parts, MPI_Comm comm);
int parts_unpack(const struct parts *parts, MPI_Comm comm);
/* The call has been begun: what it gives has been read. */
void parts_given(struct parts *parts);

/* Messages for longer blocks. `world`: the ranks on the fabric's communicator; NULL: the same. */
int parts_send(struct parts *parts, const struct fabric *fabric, const int *world);
/* Moves them on. *error is that of the first that failed. Whether all are through. */
bool parts_are_through(struct parts *parts, int *error);
/* A rank has left: they are taken back. */
void parts_abandon(struct parts *parts, int error);

#endif
