/* Persistent collectives: the start and the wait for it, one after the other; their requests are made before (../requests.h). Data, and
 * what must come of it, are those of the collective that blocks. */
#include "../grid.h"
#include "../requests.h"
#include "all.h"
#include "reduce_common.h"

/* Those of MPICH 4.0 end the program, or give wrong results, when they are started again (tried: 4.0.2). */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 40000000 && MPICH_NUMVERSION < 40100000
#define MISSING "persistent collectives of MPICH 4.0 fail when they are started again"
#elif MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define MISSING NULL
#define MAKE(begun, ...) MPI_##begun##_init(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define MISSING "this MPI library has no persistent collectives"
#endif
#ifndef MAKE
#define MAKE(begun, ...) *request = MPI_REQUEST_NULL
#endif

static void start(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    (void)operation, (void)comm, (void)send, (void)receive;
    requests_start();
}

#define LATER(which, begun, ...)                                                                                       \
    static void make_##which(const struct operation *operation, MPI_Comm comm, void *send, void *receive,              \
                             MPI_Request *request)                                                                     \
    {                                                                                                                  \
        (void)operation, (void)comm, (void)send, (void)receive;                                                        \
        MAKE(begun, __VA_ARGS__);                                                                                      \
    }                                                                                                                  \
    const struct collective coll_##which##_init = {.name = #which "_init",                                             \
                                                   .missing = MISSING,                                                 \
                                                   .as = &coll_##which,                                                \
                                                   .make = make_##which,                                               \
                                                   .run = start,                                                       \
                                                   .transfers = 1};

#include "later.def"
