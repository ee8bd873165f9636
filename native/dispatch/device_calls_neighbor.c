/* Neighbourhoods; see device_calls.c. */
#include "around.h"
#include "device_copy.h"

/* Elements that `count` blocks lie in, those of who is not there too where they are said. */
static void bounds(struct dispatch_vector blocks, int count, int64_t *first, int64_t *last)
{
    *first = INT64_MAX, *last = INT64_MIN;
    for (int i = 0; i < count; i++) {
        int64_t length = blocks.counts != NULL ? blocks.counts[i] : (int64_t)blocks.long_counts[i];
        int64_t at = blocks.at != NULL ? blocks.at[i] : (int64_t)blocks.long_at[i];
        if (length <= 0)
            continue;
        *first = at < *first ? at : *first;
        *last = at + length > *last ? at + length : *last;
    }
}

bool device_neighbor_allgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                               MPI_Count count, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_neighbor_allgather(send, send_count, send_type, receive, count, type, comm, error);
    struct device_copy in, out;
    int targets, sources;
    if (!copy_again(served))
        return served;
    around_count(*comm, &targets, &sources);
    device_copy_take(&in, send, 0, send_count, send_type, *comm);
    device_copy_take(&out, receive, 0, count * sources, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_neighbor_allgather(in.use, send_count, send_type, out.use, count, type, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_neighbor_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                                struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_neighbor_allgatherv(send, send_count, send_type, receive, blocks, type, comm, error);
    struct device_copy in, out;
    int targets, sources;
    int64_t first, last;
    if (!copy_again(served))
        return served;
    around_count(*comm, &targets, &sources);
    bounds(blocks, sources, &first, &last);
    device_copy_take(&in, send, 0, send_count, send_type, *comm);
    device_copy_take(&out, receive, first, last, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_neighbor_allgatherv(in.use, send_count, send_type, out.use, blocks, type, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_neighbor_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                              MPI_Count count, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_neighbor_alltoall(send, send_count, send_type, receive, count, type, comm, error);
    struct device_copy in, out;
    int targets, sources;
    if (!copy_again(served))
        return served;
    around_count(*comm, &targets, &sources);
    device_copy_take(&in, send, 0, send_count * targets, send_type, *comm);
    device_copy_take(&out, receive, 0, count * sources, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_neighbor_alltoall(in.use, send_count, send_type, out.use, count, type, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_neighbor_alltoallv(const void *send, struct dispatch_vector send_blocks, MPI_Datatype send_type,
                               void *receive, struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm,
                               int *error)
{
    copy_begin();
    bool served = dispatch_neighbor_alltoallv(send, send_blocks, send_type, receive, blocks, type, comm, error);
    struct device_copy in, out;
    int targets, sources;
    int64_t first, last;
    if (!copy_again(served))
        return served;
    around_count(*comm, &targets, &sources);
    bounds(send_blocks, targets, &first, &last);
    device_copy_take(&in, send, first, last, send_type, *comm);
    bounds(blocks, sources, &first, &last);
    device_copy_take(&out, receive, first, last, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_neighbor_alltoallv(in.use, send_blocks, send_type, out.use, blocks, type, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}
