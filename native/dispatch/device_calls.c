/* Calls with a device's memory: first as they are, and where all others take it that there is none, with a copy. */
#include "device_copy.h"

/* The blocks of a vector, as elements from the first to the end of the last. */
static void bounds(struct dispatch_vector blocks, MPI_Comm comm, int64_t *first, int64_t *last)
{
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    *first = INT64_MAX, *last = INT64_MIN;
    for (int rank = 0; rank < ranks; rank++) {
        int64_t count = blocks.counts != NULL ? blocks.counts[rank] : (int64_t)blocks.long_counts[rank];
        int64_t at = blocks.at != NULL ? blocks.at[rank] : (int64_t)blocks.long_at[rank];
        if (count == 0)
            continue;
        *first = at < *first ? at : *first;
        *last = at + count > *last ? at + count : *last;
    }
}

static int ranks_of(MPI_Comm comm)
{
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

bool device_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_bcast(buffer, count, type, root, comm, error);
    struct device_copy one, none = {.host = NULL};
    if (!copy_again(served))
        return served;
    device_copy_take(&one, buffer, 0, count, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_bcast(one.use, count, type, root, comm, &failed);
    return device_copy_end(&none, &one, failed, *comm, error);
}

bool device_reduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                   MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_reduce(send, receive, count, type, op, root, comm, error);
    struct device_copy in, out;
    if (!copy_again(served))
        return served;
    int rank = 0;
    PMPI_Comm_rank(*comm, &rank);
    device_copy_take(&in, send, 0, count, type, *comm);
    device_copy_take(&out, receive, 0, rank == root ? count : 0, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_reduce(in.use, out.use, count, type, op, root, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_allreduce(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                      int *error)
{
    copy_begin();
    bool served = dispatch_allreduce(send, receive, count, type, op, comm, error);
    struct device_copy in, out;
    if (!copy_again(served))
        return served;
    device_copy_take(&in, send, 0, count, type, *comm);
    device_copy_take(&out, receive, 0, count, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_allreduce(in.use, out.use, count, type, op, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_scan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                 int *error)
{
    copy_begin();
    bool served = dispatch_scan(send, receive, count, type, op, comm, error);
    struct device_copy in, out;
    if (!copy_again(served))
        return served;
    device_copy_take(&in, send, 0, count, type, *comm);
    device_copy_take(&out, receive, 0, count, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_scan(in.use, out.use, count, type, op, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

/* Rank 0's `receive` means nothing, but where it is what is sent. */
bool device_exscan(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm *comm,
                   int *error)
{
    copy_begin();
    bool served = dispatch_exscan(send, receive, count, type, op, comm, error);
    struct device_copy in, out;
    int rank = 0;
    if (!copy_again(served))
        return served;
    PMPI_Comm_rank(*comm, &rank);
    device_copy_take(&in, send, 0, count, type, *comm);
    device_copy_take(&out, receive, 0, rank > 0 || send == MPI_IN_PLACE ? count : 0, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_exscan(in.use, out.use, count, type, op, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_allgather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                      MPI_Datatype type, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_allgather(send, send_count, send_type, receive, count, type, comm, error);
    struct device_copy in, out;
    if (!copy_again(served))
        return served;
    device_copy_take(&in, send, 0, send_count, send_type, *comm);
    device_copy_take(&out, receive, 0, count * ranks_of(*comm), type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_allgather(in.use, send_count, send_type, out.use, count, type, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_allgatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                       struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_allgatherv(send, send_count, send_type, receive, blocks, type, comm, error);
    struct device_copy in, out;
    int64_t first, last;
    if (!copy_again(served))
        return served;
    bounds(blocks, *comm, &first, &last);
    device_copy_take(&in, send, 0, send_count, send_type, *comm);
    device_copy_take(&out, receive, first, last, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_allgatherv(in.use, send_count, send_type, out.use, blocks, type, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_alltoall(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                     MPI_Datatype type, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_alltoall(send, send_count, send_type, receive, count, type, comm, error);
    struct device_copy in, out;
    if (!copy_again(served))
        return served;
    device_copy_take(&in, send, 0, send_count * ranks_of(*comm), send_type, *comm);
    device_copy_take(&out, receive, 0, count * ranks_of(*comm), type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_alltoall(in.use, send_count, send_type, out.use, count, type, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_alltoallv(const void *send, struct dispatch_vector send_blocks, MPI_Datatype send_type, void *receive,
                      struct dispatch_vector blocks, MPI_Datatype type, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_alltoallv(send, send_blocks, send_type, receive, blocks, type, comm, error);
    struct device_copy in = {.use = (void *)(uintptr_t)send}, out;
    int64_t first, last;
    if (!copy_again(served))
        return served;
    if (send != MPI_IN_PLACE) {
        bounds(send_blocks, *comm, &first, &last);
        device_copy_take(&in, send, first, last, send_type, *comm);
    }
    bounds(blocks, *comm, &first, &last);
    device_copy_take(&out, receive, first, last, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_alltoallv(in.use, send_blocks, send_type, out.use, blocks, type, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_gather(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                   MPI_Datatype type, int root, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_gather(send, send_count, send_type, receive, count, type, root, comm, error);
    struct device_copy in, out;
    int rank = 0;
    if (!copy_again(served))
        return served;
    PMPI_Comm_rank(*comm, &rank);
    device_copy_take(&in, send, 0, send == MPI_IN_PLACE ? 0 : send_count, send_type, *comm);
    device_copy_take(&out, receive, 0, rank == root ? count * ranks_of(*comm) : 0, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_gather(in.use, send_count, send_type, out.use, count, type, root, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_scatter(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive, MPI_Count count,
                    MPI_Datatype type, int root, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_scatter(send, send_count, send_type, receive, count, type, root, comm, error);
    struct device_copy in, out;
    int rank = 0;
    if (!copy_again(served))
        return served;
    PMPI_Comm_rank(*comm, &rank);
    device_copy_take(&in, send, 0, rank == root ? send_count * ranks_of(*comm) : 0, send_type, *comm);
    device_copy_take(&out, receive, 0, receive == MPI_IN_PLACE ? 0 : count, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_scatter(in.use, send_count, send_type, out.use, count, type, root, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_reduce_scatter(const void *send, void *receive, struct dispatch_vector given, MPI_Datatype type, MPI_Op op,
                           MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_reduce_scatter(send, receive, given, type, op, comm, error);
    struct device_copy in, out;
    int64_t all = 0, own = 0;
    int rank = 0;
    if (!copy_again(served))
        return served;
    PMPI_Comm_rank(*comm, &rank);
    for (int i = 0; i < ranks_of(*comm); i++) {
        int64_t count = given.counts != NULL ? given.counts[i] : (int64_t)given.long_counts[i];
        all += count;
        own = i == rank ? count : own;
    }
    device_copy_take(&in, send, 0, send == MPI_IN_PLACE ? 0 : all, type, *comm);
    device_copy_take(&out, receive, 0, send == MPI_IN_PLACE ? all : own, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_reduce_scatter(in.use, out.use, given, type, op, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_reduce_scatter_block(const void *send, void *receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_reduce_scatter_block(send, receive, count, type, op, comm, error);
    struct device_copy in, out;
    if (!copy_again(served))
        return served;
    const MPI_Count all = count * ranks_of(*comm);
    device_copy_take(&in, send, 0, send == MPI_IN_PLACE ? 0 : all, type, *comm);
    device_copy_take(&out, receive, 0, send == MPI_IN_PLACE ? all : count, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_reduce_scatter_block(in.use, out.use, count, type, op, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_gatherv(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *receive,
                    struct dispatch_vector given, MPI_Datatype type, int root, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_gatherv(send, send_count, send_type, receive, given, type, root, comm, error);
    struct device_copy in, out;
    int64_t first = 0, last = 0;
    int rank = 0;
    if (!copy_again(served))
        return served;
    PMPI_Comm_rank(*comm, &rank);
    if (rank == root)
        bounds(given, *comm, &first, &last);
    device_copy_take(&in, send, 0, send == MPI_IN_PLACE ? 0 : send_count, send_type, *comm);
    device_copy_take(&out, receive, first, last, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_gatherv(in.use, send_count, send_type, out.use, given, type, root, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_scatterv(const void *send, struct dispatch_vector given, MPI_Datatype send_type, void *receive,
                     MPI_Count count, MPI_Datatype type, int root, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_scatterv(send, given, send_type, receive, count, type, root, comm, error);
    struct device_copy in, out;
    int64_t first = 0, last = 0;
    int rank = 0;
    if (!copy_again(served))
        return served;
    PMPI_Comm_rank(*comm, &rank);
    if (rank == root)
        bounds(given, *comm, &first, &last);
    device_copy_take(&in, send, first, last, send_type, *comm);
    device_copy_take(&out, receive, 0, receive == MPI_IN_PLACE ? 0 : count, type, *comm);
    int failed = MPI_SUCCESS;
    dispatch_scatterv(in.use, given, send_type, out.use, count, type, root, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}
