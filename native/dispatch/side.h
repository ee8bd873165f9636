/* What a rank sends, or gets, in a call whose blocks have lengths of their own: cut into pieces, packed where types have gaps. */
#ifndef UNISONO_SIDE_H
#define UNISONO_SIDE_H

#include "dispatch.h"
#include "serve.h"
#include "vectors.h"

/* One side of a call, and how it goes. */
struct side {
    int count;   /* blocks: one for each rank, or for each neighbour */
    bool is_one; /* all blocks are the same, sent to all, and packed once; `first`: the first that is not empty */
    int first;
    struct blocks blocks; /* of the piece that goes: lengths, and where they are in `data` or in `room` */
    char *data;
    bool packs; /* by way of `room` */
    char *room;
    int64_t longest, total; /* of the whole blocks */
};

/* The types of a side whose blocks have one each, into `layouts`, as many. What nothing is sent with may be no type. False: a
 * type is none. */
bool side_look_at_types(struct side *side, struct layout *layouts);
/* Whether a type has gaps, so that what is sent or received with it is packed. */
bool side_has_gaps(const struct side *side);
/* Arranges the blocks as they are with the program. False: a count is none, or all are too many. */
bool side_measure(struct side *side);
/* Room for a piece of every block, and for an element of each that is longer. MPI error codes. */
int side_room(struct comm_state *state, struct side *side, int which, int64_t piece);
/* Bytes [from, from + piece) of every block. */
void side_arrange(struct side *side, int64_t from, int64_t piece);
/* Between the program's memory and the room. MPI error codes. */
int side_move(const struct comm_state *state, const struct side *side, int64_t from, int64_t piece, bool leaves);

#endif
