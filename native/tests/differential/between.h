/* Calls between two groups of ranks, none of which is ours. */
#ifndef UNISONO_TEST_BETWEEN_H
#define UNISONO_TEST_BETWEEN_H

#include "calls.h"

struct between {
    MPI_Comm comm; /* MPI_COMM_NULL: there is none */
    bool is_first; /* this rank is of the first group, which has the root */
};

/* Collective over `comm`: between two parts of its ranks, if it has several. */
struct between between_make(MPI_Comm comm, struct random *shared);
void between_free(struct between *between);
/* A few calls there, of which trial->shared says what they are: whether they gave what the library underneath gives. */
bool between_run(const struct between *between, struct trial *trial);

#endif
