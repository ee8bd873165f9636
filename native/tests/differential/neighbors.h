/* Whom a rank of a communicator with a topology has to do with, in the order of the blocks. */
#ifndef UNISONO_TEST_NEIGHBORS_H
#define UNISONO_TEST_NEIGHBORS_H

#include "calls.h"

enum { EDGES_MOST = 128 };

struct partners {
    int count, rank[EDGES_MOST];
};

void partners_find(const struct trial *trial, struct partners *out, struct partners *in);

/* Whether a rank, on all of them, has the same neighbour twice on one side: MPI libraries do not mean the same then. */
bool partners_twice(const struct trial *trial, const struct partners *out, const struct partners *in);

#endif
