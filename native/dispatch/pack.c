#include "pack.h"

#include <limits.h>
#include <string.h>

/* Elements that go at once: MPI_Pack counts elements and bytes with an int. */
static int64_t portion(const struct layout *layout)
{
    const int64_t most = INT64_C(1) << 30;
    int64_t elements = layout->size > 0 ? most / layout->size : most;
    return elements > 0 ? elements : 1;
}

int pack(const void *from, int64_t count, MPI_Datatype type, const struct layout *layout, void *to, MPI_Comm comm)
{
    const char *in = from;
    char *out = to;
    if (layout->contiguous) {
        memmove(out, in, (size_t)(count * layout->size));
        return MPI_SUCCESS;
    }
    if (layout->size > INT_MAX)
        return MPI_ERR_COUNT;
    for (int64_t most = portion(layout), now; count > 0; count -= now) {
        now = count < most ? count : most;
        int64_t bytes = now * layout->size;
        int used = 0;
        int error = PMPI_Pack(in, (int)now, type, out, (int)bytes, &used, comm);
        if (error != MPI_SUCCESS || used != bytes)
            return error != MPI_SUCCESS ? error : MPI_ERR_INTERN;
        in += now * layout->extent;
        out += bytes;
    }
    return MPI_SUCCESS;
}

int unpack(const void *from, void *to, int64_t count, MPI_Datatype type, const struct layout *layout, MPI_Comm comm)
{
    const char *in = from;
    char *out = to;
    if (layout->contiguous) {
        memmove(out, in, (size_t)(count * layout->size));
        return MPI_SUCCESS;
    }
    if (layout->size > INT_MAX)
        return MPI_ERR_COUNT;
    for (int64_t most = portion(layout), now; count > 0; count -= now) {
        now = count < most ? count : most;
        int64_t bytes = now * layout->size;
        int used = 0;
        int error = PMPI_Unpack(in, (int)bytes, &used, out, (int)now, type, comm);
        if (error != MPI_SUCCESS)
            return error;
        in += bytes;
        out += now * layout->extent;
    }
    return MPI_SUCCESS;
}
