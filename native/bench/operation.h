/* One operation on one communicator size with one message size, and the table of all that can be measured. */
#ifndef UNISONO_OPERATION_H
#define UNISONO_OPERATION_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problem.h"
#include "reduction.h"

struct collective;
struct operation;
struct partners;

struct operation {
    const struct collective *collective;
    int rank, ranks;
    size_t bytes;      /* the message size, by the collective's own convention */
    size_t send_bytes; /* what this rank's buffers hold */
    size_t receive_bytes;
    int *counts,
        *offsets;  /* allgatherv, alltoallv, gatherv, scatterv and reduce_scatter; partners of exchange and halo26 */
    MPI_Aint *far; /* neighbor_alltoallw's offsets */
    MPI_Datatype *types, made;       /* of both alltoallw; the one that they made, or MPI_DATATYPE_NULL */
    const struct partners *partners; /* exchange */
    struct reduction *reduction;     /* allreduce, reduce, reduce_scatter(_block) */
};

/* A row of the table. Root is rank 0 wherever there is one. */
struct collective {
    const char *name;
    const char *missing;         /* why this MPI library has none; NULL: it has */
    const struct collective *as; /* whose data it has, and what must come of it; NULL: it is its own */
    /* Persistent ones: their request, which run() starts and waits for; else NULL. */
    void (*make)(const struct operation *operation, MPI_Comm comm, void *send, void *receive, MPI_Request *request);
    /* Sets the buffer sizes and whatever else; false when MPI or memory cannot express this size. */
    bool (*prepare)(struct operation *operation, struct problem *problem);
    void (*run)(const struct operation *operation, MPI_Comm comm, void *send, void *receive);
    void (*fill)(const struct operation *operation, void *send, uint64_t repetition);
    /* False with the first wrong element. */
    bool (*verify)(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem);
    int transfers; /* messages one after the other that the reported time is divided by: 2 for a ping-pong, else 1 */
};

/* The one whose prepare, fill and verify hold for it. */
static inline const struct collective *collective_data(const struct collective *collective)
{
    return collective->as != NULL ? collective->as : collective;
}

const struct collective *collective_find(const char *name);

/* Every name, for messages and tests; NULL at the end. */
const struct collective *collective_at(int index);

/* False when this operation cannot be had: refused, with the reason. `partners` must live as long. Afterwards
   operation_free(). */
bool operation_prepare(struct operation *operation, const char *name, int rank, int ranks, int64_t bytes,
                       const struct partners *partners, struct problem *problem);
void operation_free(struct operation *operation);

#endif
