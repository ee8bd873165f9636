/* Nonblocking collectives: the call and the wait for it, one after the other. Data, and what must come of it, are those of the
 * collective that blocks. */
#include "../grid.h"
#include "all.h"
#include "reduce_common.h"

#define LATER(which, begun, ...)                                                                                       \
    static void run_##which(const struct operation *operation, MPI_Comm comm, void *send, void *receive)               \
    {                                                                                                                  \
        MPI_Request request;                                                                                           \
        (void)operation, (void)send, (void)receive;                                                                    \
        MPI_I##which(__VA_ARGS__, &request);                                                                           \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                         \
    }                                                                                                                  \
    const struct collective coll_i##which = {                                                                          \
        .name = "i" #which, .as = &coll_##which, .run = run_##which, .transfers = 1};

#include "later.def"
