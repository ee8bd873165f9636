#include "device_copy.h"

#include <stdio.h>
#include <stdlib.h>

#include "failure.h"

enum { PIECE = 1 << 30 };

/* The MPI library, which the program trusts with this memory, moves it. */
static int move(const struct device_copy *copy, bool back, MPI_Comm comm)
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

/* The others are in the call already, and go on without knowing of any device. */
static void end_program(const char *what)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "unisono: rank %d %s, and the other ranks would wait for it: the program ends here\n", rank, what);
    failure_end_job(EXIT_FAILURE);
    abort();
}

void device_copy_take(struct device_copy *copy, const void *buffer, int64_t first, int64_t end, MPI_Datatype type,
                      MPI_Comm comm)
{
    MPI_Count low, extent, true_low, true_extent;
    *copy = (struct device_copy){.buffer = (void *)(uintptr_t)buffer, .use = (void *)(uintptr_t)buffer};
    if (end <= first || !device_is(buffer, buffer))
        return;
    if (PMPI_Type_get_extent_x(type, &low, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent_x(type, &true_low, &true_extent) != MPI_SUCCESS)
        end_program("cannot say how long its elements on a device are");
    int64_t one = first * extent, other = (end - 1) * extent;
    copy->low = true_low + (one < other ? one : other);
    copy->bytes = true_extent + (one < other ? other - one : one - other);
    copy->host = malloc((size_t)copy->bytes);
    if (copy->host == NULL)
        end_program("has no memory left for a copy of what is on its device");
    copy->use = (char *)((uintptr_t)copy->host - (uintptr_t)copy->low);
    if (move(copy, false, comm) != MPI_SUCCESS)
        end_program("cannot copy what is on its device");
}

static int give_back(struct device_copy *copy, bool back, int failed, MPI_Comm comm)
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

bool device_copy_end(struct device_copy *send, struct device_copy *receive, int failed, MPI_Comm comm, int *error)
{
    device_call = (struct device_call){.here = false};
    failed = give_back(receive, true, failed, comm);
    failed = give_back(send, false, failed, comm);
    *error = failed;
    return true;
}
