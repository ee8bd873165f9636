/* What a rank of a node gives in a collective that does not block, and what it takes of what others gave, wherever that lies. */
#ifndef UNISONO_NODE_GIVEN_H
#define UNISONO_NODE_GIVEN_H

#include "../collectives.h"

/* Bytes that a rank gives at most: the same on all ranks. */
int64_t given_bytes(const struct call *call, int ranks);
/* Of an ineighbor_*: how long each block may be where a rank may give so many bytes. */
int64_t given_room(const struct call *call, int64_t bytes);

/* Of an ineighbor_*: bytes that this rank itself gives. */
int64_t given_own(const struct call *call);

/* Puts there what this rank gives, which may be nothing. */
void given_put(const struct call *call, int rank, int ranks, unsigned char *to);

/* The root's own block, which goes through no shared memory. */
void given_to_self(const struct call *call, int rank);

/* Whose data this rank awaits: given_giver() of each from *from to below *until. */
void given_expected(const struct call *call, int rank, int ranks, int *from, int *until);
/* A rank; below 0: nobody. In the same order, that to which this rank gives. */
int given_giver(const struct call *call, int which);
int given_reader(const struct call *call, int which);

/* What all of these gave is there: that of rank 0 from `first` on, that of each next one `apart` bytes further. */
void given_take(const struct call *call, int rank, int ranks, const unsigned char *first, int64_t apart);
/* Of an ineighbor_*: the same of one source alone, which has given what is there. */
void given_take_from(const struct call *call, int rank, int which, const unsigned char *given);

#endif
