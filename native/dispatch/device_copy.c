#include "device_copy.h"

#include <stdlib.h>

enum { PIECE = 1 << 30 };

/* The MPI library, which the program trusts with this memory, moves it. */
static int move(const struct copy *copy, bool back, MPI_Comm comm)
{
    char *device = (char *)copy->buffer + copy->low;
    int failed = MPI_SUCCESS;
    for (int64_t done = 0, now; done < copy->bytes && failed == MPI_SUCCESS; done += now) {
        int used = 0;
        now = copy->bytes - done < PIECE ? copy->bytes - done : PIECE;
        failed = back ? PMPI_Unpack(copy->host + done, (int)now, &used, device + done, (int)now, MPI_BYTE, comm)
                      : PMPI_Pack(device + done, (int)now, MPI_BYTE, copy->host + done, (int)now, &used, comm);
    }
    return failed;
}

int copy_take(struct copy *copy, const void *buffer, int64_t first, int64_t end, MPI_Datatype type, MPI_Comm comm)
{
    MPI_Count low, extent, true_low, true_extent;
    *copy = (struct copy){.buffer = (void *)(uintptr_t)buffer, .use = (void *)(uintptr_t)buffer};
    if (end <= first || !device_is(buffer, buffer))
        return MPI_SUCCESS;
    int failed = PMPI_Type_get_extent_x(type, &low, &extent);
    if (failed == MPI_SUCCESS)
        failed = PMPI_Type_get_true_extent_x(type, &true_low, &true_extent);
    if (failed != MPI_SUCCESS)
        return failed;
    int64_t one = first * extent, other = (end - 1) * extent;
    copy->low = true_low + (one < other ? one : other);
    copy->bytes = true_extent + (one < other ? other - one : one - other);
    copy->host = malloc((size_t)copy->bytes);
    if (copy->host == NULL)
        return MPI_ERR_NO_MEM;
    copy->use = (char *)((uintptr_t)copy->host - (uintptr_t)copy->low);
    return move(copy, false, comm);
}

static int give_back(struct copy *copy, bool back, int failed, MPI_Comm comm)
{
    if (copy->host != NULL && back && failed == MPI_SUCCESS)
        failed = move(copy, true, comm);
    free(copy->host);
    return failed;
}

void copy_begin(void)
{
    device_call = (struct device_call){.here = true};
}

bool copy_again(bool served)
{
    bool wanted = !served && device_call.wanted;
    device_call = (struct device_call){.copied = wanted};
    return wanted;
}

bool copy_end(struct copy *send, struct copy *receive, int failed, MPI_Comm comm, int *error)
{
    device_call = (struct device_call){.here = false};
    failed = give_back(receive, true, failed, comm);
    failed = give_back(send, false, failed, comm);
    *error = failed;
    return true;
}
