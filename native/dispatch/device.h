/* Memory of a device (CUDA, HIP, Level Zero), which the MPI library may be able to read and this library is not.
 *
 * Whether a buffer is such memory one rank alone knows; who serves a call all must decide alike. So for every collective
 * and power of four of sizes the ranks of a communicator agree now and then on whether one has met such a buffer;
 * if so these calls are the MPI library's, untouched, until they agree anew. A rank that meets one while the others take
 * it for granted that there are none is served with a copy in host memory, which the MPI library makes (device_calls.c).
 * Ranks agree at the first such call and ever more rarely, where a driver is loaded in one of them at the start; without
 * one at the 16th, 32nd, 64th ... 32,768th, and then every 32,768th: ranks wait for each other then. */
#ifndef UNISONO_DEVICE_H
#define UNISONO_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "dispatch.h"

enum { DEVICE_BINS = 33, DEVICE_RARELY = 32768 };

/* Of one collective and one range of sizes on one communicator. */
struct device_watch {
    uint16_t calls, next; /* the call at which ranks agree; 0: not begun */
    bool found;
};

/* The call that this thread is in: whether one of its buffers is a device's; whether it is to be copied, or has been. */
struct device_call {
    bool here, wanted, copied;
};
extern _Thread_local struct device_call device_call __attribute__((tls_model("initial-exec")));

/* Whether a driver is loaded in this process. One that is being loaded is seen by the next tick of the kernel's coarse clock
 * (1 to 10 ms): a driver takes longer than that to give anybody memory. */
bool device_driver(void);

/* What can be no device's memory: the heap (as far as it has been seen to grow), this thread's stack, the program's own
 * data. */
extern const char *device_heap, *device_heap_end, *device_data, *device_data_end;
extern _Thread_local struct device_stack {
    const char *low, *high;
} device_stack __attribute__((tls_model("initial-exec")));

static inline bool device_is_not(const void *buffer)
{
    const char *at = buffer;
    const char *heap_end = __atomic_load_n(&device_heap_end, __ATOMIC_RELAXED); /* other threads move it */
    return (at >= device_stack.low && at < device_stack.high) || (at >= device_heap && at < heap_end) ||
           (at >= device_data && at < device_data_end);
}

bool device_owns(const void *one, const void *other); /* asks the driver for both */

/* Whether one of the two is a device's. */
static inline bool device_is(const void *one, const void *other)
{
    return __builtin_expect(!(device_is_not(one) && device_is_not(other)), false) && device_owns(one, other);
}

/* What dispatch.h's functions do, where one of the buffers is a device's. */
bool device_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm *comm, int *error);
bool device_reduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm *comm, int *error);
bool device_allreduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                      int *error);
bool device_scan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                 int *error);
bool device_exscan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                   int *error);
bool device_allgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                      MPI_Datatype type, MPI_Comm *comm, int *error);
bool device_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                       struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm, int *error);
bool device_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                     MPI_Datatype type, MPI_Comm *comm, int *error);
bool device_alltoallv(const void *send, struct dispatch_vector send_blocks, MPI_Datatype send_type, void *receive,
                      struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm, int *error);
bool device_alltoallw(const void *send, struct dispatch_vector send_blocks, void *receive,
                      struct dispatch_vector blocks, MPI_Comm *comm, int *error);
bool device_gather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                   MPI_Datatype type, int root, MPI_Comm *comm, int *error);
bool device_reduce_scatter(const void *send, void *receive, struct dispatch_vector given, MPI_Datatype type, MPI_Op op,
                           MPI_Comm *comm, int *error);
bool device_reduce_scatter_block(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm *comm, int *error);
bool device_scatter(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                    MPI_Datatype type, int root, MPI_Comm *comm, int *error);
bool device_neighbor_allgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                               MPI_Count count, MPI_Datatype type, MPI_Comm *comm, int *error);
bool device_neighbor_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm, int *error);
bool device_neighbor_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                              MPI_Count count, MPI_Datatype type, MPI_Comm *comm, int *error);
bool device_neighbor_alltoallv(const void *send, struct dispatch_vector send_blocks, MPI_Datatype send_type,
                               void *receive, struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm,
                               int *error);
bool device_neighbor_alltoallw(const void *send, struct dispatch_vector send_blocks, void *receive,
                               struct dispatch_vector blocks, MPI_Comm *comm, int *error);
bool device_gatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                    struct dispatch_vector given, MPI_Datatype type, int root, MPI_Comm *comm, int *error);
bool device_scatterv(const void *send, struct dispatch_vector given, MPI_Datatype send_type, void *receive,
                     MPI_Count count, MPI_Datatype type, int root, MPI_Comm *comm, int *error);

#endif
