/* Persistent requests: what starting them moves. And arrays of any. */
#ifndef UNISONO_REQUEST_H
#define UNISONO_REQUEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "amount.h"
#include "message.h"
#include "pending.h"

enum { REQUESTS_MOST = 1 << 14, REQUEST_NO_TARGET = -2 };

struct request {
    struct amount amount;
    int32_t shape;
    int target;   /* of a send, in MPI_COMM_WORLD; NOT_KNOWN: not in it; REQUEST_NO_TARGET: no send */
    bool message; /* point to point, with ... */
    struct envelope envelope;
    bool collective; /* which was made there: */
    struct origin origin;
};

/* Beyond REQUESTS_MOST / 2 at a time a request is not remembered, and starting it has no bytes. */
void request_add(MPI_Request handle, const struct request *request);
bool request_find(MPI_Request handle, struct request *request);

/* The request is being freed, whether or not it was remembered. */
extern uint32_t request_count;
void request_forget(MPI_Request handle);

/* One of an array of requests as the language has them. */
static inline MPI_Request request_handle(const void *requests, int i, bool fortran)
{
    return fortran ? PMPI_Request_f2c(((const MPI_Fint *)requests)[i]) : ((const MPI_Request *)requests)[i];
}

static inline void request_remove(MPI_Request handle)
{
    if (__builtin_expect(request_count > 0, false))
        request_forget(handle);
}

#endif
