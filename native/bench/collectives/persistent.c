/* Persistent collectives: the start and the wait for it, one after the other; their requests are made before (../requests.h). Data, and
 * what must come of it, are those of the collective that blocks. */
#include "../grid.h"
#include "../requests.h"
#include "all.h"
#include "reduce_common.h"

/* Those of MPICH 4.0 end the program, or give wrong results, when they are started again (tried: 4.0.2). */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 40000000 && MPICH_NUMVERSION < 40100000
static const char missing[] = "persistent collectives of MPICH 4.0 fail when they are started again";
#elif MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define PERSISTENT
#else
static const char missing[] = "this MPI library has no persistent collectives";
#endif

#ifdef PERSISTENT
#define PREPARE(name) return coll_##name.prepare(operation, problem)
#define MAKE(begun, ...) MPI_##begun##_init(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define PREPARE(name) return (void)operation, problem_set(problem, "%s", missing)
#define MAKE(begun, ...) *request = MPI_REQUEST_NULL
#endif

#define LATER(name, begun, ...)                                                                                        \
    static bool prepare_##name(struct operation *operation, struct problem *problem)                                   \
    {                                                                                                                  \
        PREPARE(name);                                                                                                 \
    }                                                                                                                  \
    static void make_##name(const struct operation *operation, MPI_Comm comm, void *send, void *receive,               \
                            MPI_Request *request)                                                                      \
    {                                                                                                                  \
        (void)operation, (void)comm, (void)send, (void)receive;                                                        \
        MAKE(begun, __VA_ARGS__);                                                                                      \
    }                                                                                                                  \
    static void run_##name(const struct operation *operation, MPI_Comm comm, void *send, void *receive)                \
    {                                                                                                                  \
        (void)operation, (void)comm, (void)send, (void)receive;                                                        \
        requests_start();                                                                                              \
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
    const struct collective coll_##name##_init = {#name "_init", prepare_##name, run_##name,                           \
                                                  fill_##name,   verify_##name,  1};
#include "later.def"

#define LATER(name, begun, ...) {&coll_##name##_init, make_##name},
static const struct {
    const struct collective *collective;
    make_request *make;
} table[] = {
#include "later.def"
};

make_request *persistent_make_of(const struct collective *collective)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].collective == collective)
            return table[i].make;
    return NULL;
}
