#include "pack.h"

#include <limits.h>
#include <string.h>

#include "fabric.h"

/* Elements that go at once: MPI_Pack counts elements and bytes with an int. */
static int64_t portion(const struct layout *layout)
{
    const int64_t most = INT64_C(1) << 30;
    int64_t elements = layout->size > 0 ? most / layout->size : most;
    return elements > 0 ? elements : 1;
}

/* Elements of more than INT_MAX bytes go one by one as messages to this rank itself, which have no such bound. */
static int move_long(char *elements, char *packed, int64_t count, MPI_Datatype type, const struct layout *layout,
                     MPI_Comm comm, bool packs)
{
    const struct fabric own = {.comm = comm};
    int error = MPI_SUCCESS, rank;
    PMPI_Comm_rank(comm, &rank);
    for (; count > 0 && error == MPI_SUCCESS; count--, elements += layout->extent, packed += layout->size) {
        MPI_Request requests[2];
        error = fabric_begin(&own, elements, 1, type, rank, FABRIC_OWN, packs, &requests[0]);
        if (error == MPI_SUCCESS)
            error = fabric_begin(&own, packed, layout->size, MPI_PACKED, rank, FABRIC_OWN, !packs, &requests[1]);
        error = fabric_finish(&own, error, 2, requests);
    }
    return error;
}

/* MPICH's MPI_Pack takes MPI_BOTTOM for a mistake: the same memory seen from somewhere else. *type is a new one. */
enum { AWAY = 4096 };

static int move_away(MPI_Datatype *type)
{
    const int one = 1;
    const MPI_Aint back = -AWAY;
    MPI_Datatype moved = MPI_DATATYPE_NULL;
    int error = PMPI_Type_create_hindexed(1, &one, &back, *type, &moved);
    if (error == MPI_SUCCESS)
        error = PMPI_Type_commit(&moved);
    *type = moved;
    return error;
}

static int pack_pieces(const char *in, int64_t count, MPI_Datatype type, const struct layout *layout, char *out,
                       MPI_Comm comm)
{
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

static int unpack_pieces(const char *in, char *out, int64_t count, MPI_Datatype type, const struct layout *layout,
                         MPI_Comm comm)
{
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

int pack(const void *from, int64_t count, MPI_Datatype type, const struct layout *layout, void *to, MPI_Comm comm)
{
    if (layout->contiguous) {
        memmove(to, from, (size_t)(count * layout->size));
        return MPI_SUCCESS;
    }
    if (layout->size > INT_MAX)
        return move_long((char *)(uintptr_t)from, to, count, type, layout, comm, true);
    if (from != MPI_BOTTOM)
        return pack_pieces(from, count, type, layout, to, comm);
    int error = move_away(&type);
    if (error != MPI_SUCCESS)
        return error;
    error = pack_pieces((const char *)AWAY, count, type, layout, to, comm);
    PMPI_Type_free(&type);
    return error;
}

int unpack(const void *from, void *to, int64_t count, MPI_Datatype type, const struct layout *layout, MPI_Comm comm)
{
    if (layout->contiguous) {
        memmove(to, from, (size_t)(count * layout->size));
        return MPI_SUCCESS;
    }
    if (layout->size > INT_MAX)
        return move_long(to, (char *)(uintptr_t)from, count, type, layout, comm, false);
    if (to != MPI_BOTTOM)
        return unpack_pieces(from, to, count, type, layout, comm);
    int error = move_away(&type);
    if (error != MPI_SUCCESS)
        return error;
    error = unpack_pieces(from, (char *)AWAY, count, type, layout, comm);
    PMPI_Type_free(&type);
    return error;
}
