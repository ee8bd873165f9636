#include "completion.h"

#include "record.h"
#include "request.h"

/* Whether an MPI gives one handle to all requests that are complete at once. */
static void compare(MPI_Request one, MPI_Request other)
{
    if (one == other)
        pending_is_common(one);
    PMPI_Wait(&one, MPI_STATUS_IGNORE);
    PMPI_Wait(&other, MPI_STATUS_IGNORE);
}

/* Those of collectives of one rank are complete at once, and those of messages to nobody. */
void completion_start(bool shared)
{
    MPI_Request one, other;
    pending_start(shared);
    PMPI_Ibarrier(MPI_COMM_SELF, &one);
    PMPI_Ibarrier(MPI_COMM_SELF, &other);
    compare(one, other);
    PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &one);
    PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &other);
    compare(one, other);
}

uint16_t completion_take(int count, const void *requests, bool fortran)
{
    uint16_t first = PENDING_NONE;
    uint32_t active = 0;
    for (int i = 0; i < count; i++) {
        MPI_Request handle = request_handle(requests, i, fortran);
        if (handle == MPI_REQUEST_NULL)
            continue;
        active++;
        pending_take(handle, i, &first);
    }
    if (first != PENDING_NONE) {
        pending_at(first)->active = active;
        pending_at(first)->epoch = record_epoch();
    }
    return first;
}

/* As a program's call comes by: those of starts that are not the MPI library's are asked for, too. */
int on_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);

/* Requests of nonblocking collectives are never persistent: one that is complete is no more (MPI 4.1, 3.7.3 and 6.12). A persistent one
 * stays, and is inactive. */
static bool complete(const struct pending *pending, const void *requests, bool fortran)
{
    MPI_Request handle = request_handle(requests, pending->place, fortran);
    int over = 0;
    if (handle == MPI_REQUEST_NULL || !pending->persists)
        return handle == MPI_REQUEST_NULL;
    return on_Request_get_status(handle, &over, MPI_STATUS_IGNORE) == MPI_SUCCESS && over;
}

void completion_divide(uint16_t awaited, const void *requests, bool fortran, int done, uint64_t ticks, uint32_t cell)
{
    uint32_t active = pending_at(awaited)->active, epoch = pending_at(awaited)->epoch;
    uint32_t parts = done > 0 && (uint32_t)done < active ? (uint32_t)done : active;
    uint64_t part = ticks / (parts > 0 ? parts : 1), completed = 0, theirs = 0;
    uint16_t next;
    /* A persistent one may be over without the program having been told: of those so many count as it was told of. */
    int told = done;
    for (uint16_t number = awaited; number != PENDING_NONE; number = pending_at(number)->next)
        told -= !pending_at(number)->persists && complete(pending_at(number), requests, fortran);
    for (uint16_t number = awaited; number != PENDING_NONE; number = next) {
        const struct pending *pending = pending_at(number);
        struct origin origin = pending->origin;
        next = pending->next;
        bool over = (!pending->persists || told > 0) && complete(pending, requests, fortran);
        told -= over && pending->persists;
        if ((over || done <= 0) && cell != TABLE_NO_CELL && record_complete(&origin, over, part)) {
            completed += over;
            theirs += part;
        }
        if (over)
            pending_free(number);
        else
            pending_back(number);
    }
    if (theirs > 0 || completed > 0)
        record_complete(&(struct origin){cell, record_slab(), epoch}, completed, theirs);
}

void completion_return(uint16_t awaited, const void *requests, bool fortran)
{
    uint16_t next;
    for (uint16_t number = awaited; number != PENDING_NONE; number = next) {
        const struct pending *pending = pending_at(number);
        next = pending->next;
        if (complete(pending, requests, fortran))
            pending_free(number);
        else
            pending_back(number);
    }
}
