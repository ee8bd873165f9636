/* Persistent collectives, the same one made twice: of a size to which a rule gives one of the MPI library's own algorithms, and of a few
 * bytes more, to which it gives none. Both are started in turn (persistent_nodes.py). Rank 0 prints collective, bytes and the
 * seconds of start and wait of both, of the slowest rank, once for each round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 6, WAYS = 2, MORE = 8, LONG = 65536, SHORT_CALLS = 20, LONG_CALLS = 5 };

static const char *const names[KINDS] = {"iallreduce", "ireduce", "ibcast", "iallgather", "iscan", "iexscan"};

static void make(int kind, char *send, char *receive, int bytes, MPI_Request *request)
{
    const MPI_Comm comm = MPI_COMM_WORLD;
    const int numbers = bytes / 8;
    switch (kind) {
    case 0: MPI_Allreduce_init(send, receive, numbers, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request); break;
    case 1: MPI_Reduce_init(send, receive, numbers, MPI_DOUBLE, MPI_SUM, 0, comm, MPI_INFO_NULL, request); break;
    case 2: MPI_Bcast_init(send, bytes, MPI_BYTE, 0, comm, MPI_INFO_NULL, request); break;
    case 3: MPI_Allgather_init(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm, MPI_INFO_NULL, request); break;
    case 4: MPI_Scan_init(send, receive, numbers, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request); break;
    default: MPI_Exscan_init(send, receive, numbers, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request);
    }
}

static double took(MPI_Request *request, int calls)
{
    double mine = 0, slowest = 0;
    for (int i = 0; i < calls; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begun = MPI_Wtime();
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        mine += (MPI_Wtime() - begun) / calls;
    }
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

int main(int count, char **arguments)
{
    int rank, ranks;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int kind = atoi(arguments[1]), bytes = atoi(arguments[2]), rounds = atoi(arguments[3]);
    const int calls = bytes < LONG ? SHORT_CALLS : LONG_CALLS;
    char *send = calloc((size_t)bytes + MORE, 1), *receive = calloc((size_t)ranks, (size_t)bytes + MORE);
    MPI_Request requests[WAYS];
    for (int way = 0; way < WAYS; way++)
        make(kind, send, receive, bytes + way * MORE, &requests[way]);
    for (int round = -1; round < rounds; round++) {
        double seconds[WAYS];
        for (int i = 0; i < WAYS; i++) {
            const int way = (round + i) & 1; /* each comes first as often */
            seconds[way] = took(&requests[way], calls);
        }
        if (rank == 0 && round >= 0)
            printf("%s %d %.9f %.9f\n", names[kind], bytes, seconds[0], seconds[1]);
    }
    for (int way = 0; way < WAYS; way++)
        MPI_Request_free(&requests[way]);
    free(send);
    free(receive);
    MPI_Finalize();
    return 0;
}
