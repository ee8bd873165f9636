/* Alltoallw and that of neighbourhoods; see device_calls.c. */
#include "around.h"
#include "device_copy.h"

/* The bytes that so many blocks lie in, from `low` to `high`; those of who is not there too where they have a type. */
static void bounds_typed(const struct dispatch_vector *given, int blocks, int64_t *low, int64_t *high)
{
    *low = INT64_MAX, *high = INT64_MIN;
    for (int rank = 0; rank < blocks; rank++) {
        int64_t count = given->counts != NULL ? given->counts[rank] : (int64_t)given->long_counts[rank];
        int64_t at = given->at != NULL ? given->at[rank] : (int64_t)given->long_at[rank];
        MPI_Count lower, extent, true_low, true_extent;
        if (count <= 0)
            continue;
        MPI_Datatype type = given->types != NULL ? given->types[rank] : PMPI_Type_f2c(given->fortran_types[rank]);
        if (type == MPI_DATATYPE_NULL)
            continue;
        PMPI_Type_get_extent_x(type, &lower, &extent); /* dispatch has asked for it before */
        PMPI_Type_get_true_extent_x(type, &true_low, &true_extent);
        int64_t span = (count - 1) * (int64_t)extent, first = at + (int64_t)true_low + (span < 0 ? span : 0);
        int64_t last = at + (int64_t)true_low + (int64_t)true_extent + (span > 0 ? span : 0);
        *low = first < *low ? first : *low;
        *high = last > *high ? last : *high;
    }
}

static void take_typed(struct device_copy *copy, const void *buffer, const struct dispatch_vector *given, int blocks,
                       MPI_Comm comm)
{
    int64_t low, high;
    bounds_typed(given, blocks, &low, &high);
    device_copy_take(copy, buffer, low, high, MPI_BYTE, comm);
}

bool device_alltoallw(const void *send, struct dispatch_vector send_blocks, void *receive,
                      struct dispatch_vector blocks, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_alltoallw(send, send_blocks, receive, blocks, comm, error);
    struct device_copy in = {.use = (void *)(uintptr_t)send}, out;
    int ranks = 0;
    if (!copy_again(served))
        return served;
    PMPI_Comm_size(*comm, &ranks);
    if (send != MPI_IN_PLACE)
        take_typed(&in, send, &send_blocks, ranks, *comm);
    take_typed(&out, receive, &blocks, ranks, *comm);
    int failed = MPI_SUCCESS;
    dispatch_alltoallw(in.use, send_blocks, out.use, blocks, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}

bool device_neighbor_alltoallw(const void *send, struct dispatch_vector send_blocks, void *receive,
                               struct dispatch_vector blocks, MPI_Comm *comm, int *error)
{
    copy_begin();
    bool served = dispatch_neighbor_alltoallw(send, send_blocks, receive, blocks, comm, error);
    struct device_copy in, out;
    int targets, sources;
    if (!copy_again(served))
        return served;
    around_count(*comm, &targets, &sources);
    take_typed(&in, send, &send_blocks, targets, *comm);
    take_typed(&out, receive, &blocks, sources, *comm);
    int failed = MPI_SUCCESS;
    dispatch_neighbor_alltoallw(in.use, send_blocks, out.use, blocks, comm, &failed);
    return device_copy_end(&in, &out, failed, *comm, error);
}
