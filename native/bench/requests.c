#include "requests.h"

/* Ranks may have different numbers of buffers, so turns are counted by themselves: a request is made by all ranks together. */
enum { TURNS = 2 };

static MPI_Request requests[TURNS] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
static int turn;

/* Buffers of no bytes begin at the same place, which Open MPI 5.0.11 forbids when it makes the request of a reduction. */
static void make(const struct operation *operation, MPI_Comm comm, struct slot slot)
{
    const bool is_empty = operation->send_bytes + operation->receive_bytes == 0;
    if (requests[turn] == MPI_REQUEST_NULL)
        operation->collective->make(operation, comm, slot.send, slot.receive + is_empty, &requests[turn]);
}

struct slot requests_next(struct arena *arena, const struct operation *operation, MPI_Comm comm)
{
    if (operation->collective->make == NULL)
        return arena_next(arena);
    turn = (turn + 1) % TURNS;
    if (arena->cold && requests[turn] != MPI_REQUEST_NULL)
        MPI_Request_free(&requests[turn]);
    struct slot slot = arena->cold ? arena_next(arena) : arena_slot(arena, (size_t)turn % arena->slots);
    make(operation, comm, slot);
    return slot;
}

struct slot requests_first(const struct arena *arena, const struct operation *operation, MPI_Comm comm)
{
    struct slot slot = arena_slot(arena, 0);
    turn = 0;
    if (operation->collective->make != NULL)
        make(operation, comm, slot);
    return slot;
}

void requests_start(void)
{
    MPI_Start(&requests[turn]);
    MPI_Wait(&requests[turn], MPI_STATUS_IGNORE);
}

void requests_end(void)
{
    for (int i = 0; i < TURNS; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[i]);
}
