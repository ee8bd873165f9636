/* Nonblocking collectives: the call and the wait for it, one after the other. Data, and what must come of it, are those of the
 * collective that blocks. */
#include "../grid.h"
#include "all.h"
#include "reduce_common.h"

#define LATER(name, begun, ...)                                                                                        \
    static bool prepare_##name(struct operation *operation, struct problem *problem)                                   \
    {                                                                                                                  \
        return coll_##name.prepare(operation, problem);                                                                \
    }                                                                                                                  \
    static void run_##name(const struct operation *operation, MPI_Comm comm, void *send, void *receive)                \
    {                                                                                                                  \
        MPI_Request request;                                                                                           \
        (void)operation, (void)send, (void)receive;                                                                    \
        MPI_I##name(__VA_ARGS__, &request);                                                                            \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                         \
    }                                                                                                                  \
    static void fill_##name(const struct operation *operation, void *send, uint64_t repetition)                        \
    {                                                                                                                  \
        coll_##name.fill(operation, send, repetition);                                                                 \
    }                                                                                                                  \
    static bool verify_##name(const struct operation *operation, const void *send, const void *receive,                \
                              uint64_t repetition, struct problem *problem)                                            \
    {                                                                                                                  \
        return coll_##name.verify(operation, send, receive, repetition, problem);                                      \
    }                                                                                                                  \
    const struct collective coll_i##name = {"i" #name, prepare_##name, run_##name, fill_##name, verify_##name, 1};

#include "later.def"
