/* Short blocks, then long ones in memory with a gap, then as many bytes without: "right" by every rank that got what was sent
 * each time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT = 8, LONG = 18 << 20, GAP = 64 };

enum which { BCAST, ALLGATHER, ALLTOALL, GATHER, SCATTER, COUNT };

static int rank, ranks;

static void call(enum which which, char *send, char *receive, MPI_Datatype type)
{
    const int root = 0;
    if (which == BCAST)
        MPI_Bcast(rank == root ? send : receive, 1, type, root, MPI_COMM_WORLD);
    else if (which == ALLGATHER)
        MPI_Allgather(send, 1, type, receive, 1, type, MPI_COMM_WORLD);
    else if (which == ALLTOALL)
        MPI_Alltoall(send, 1, type, receive, 1, type, MPI_COMM_WORLD);
    else if (which == GATHER)
        MPI_Gather(send, 1, type, receive, 1, type, root, MPI_COMM_WORLD);
    else
        MPI_Scatter(send, 1, type, receive, 1, type, root, MPI_COMM_WORLD);
}

/* Whom a block is from. */
static int sender(enum which which, int block)
{
    return which == BCAST || which == SCATTER ? 0 : block;
}

/* Blocks that this rank gets. */
static int blocks_of(enum which which)
{
    if (which == BCAST)
        return rank != 0;
    return which == SCATTER ? 1 : which == GATHER && rank != 0 ? 0 : ranks;
}

/* Of blocks of two halves with so many bytes between them. */
static int wrong(enum which which, const char *receive, size_t bytes, size_t gap)
{
    int count = 0;
    for (int block = 0; block < blocks_of(which); block++)
        for (size_t i = 0; i < bytes; i++)
            count += receive[(size_t)block * (bytes + gap) + i + (i < bytes / 2 ? 0 : gap)] != 1 + sender(which, block);
    return count;
}

static int try_one(enum which which, char *send, char *receive, size_t bytes, size_t gap)
{
    MPI_Datatype type;
    MPI_Type_create_hvector(2, (int)bytes / 2, (MPI_Aint)(bytes / 2 + gap), MPI_BYTE, &type);
    MPI_Type_commit(&type);
    memset(send, 1 + rank, (size_t)ranks * (bytes + gap));
    memset(receive, 0, (size_t)ranks * (bytes + gap));
    call(which, send, receive, type);
    MPI_Type_free(&type);
    return wrong(which, receive, bytes, gap);
}

int main(int count, char **arguments)
{
    int bad = 0;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *send = malloc((size_t)ranks * (LONG + GAP)), *receive = malloc((size_t)ranks * (LONG + GAP));
    for (enum which which = BCAST; which < COUNT; which++)
        bad += try_one(which, send, receive, SHORT, 0) + try_one(which, send, receive, LONG, GAP) +
               try_one(which, send, receive, LONG, 0);
    puts(bad ? "wrong" : "right");
    MPI_Finalize();
    free(send);
    free(receive);
    return 0;
}
