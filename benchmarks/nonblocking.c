/* Nonblocking collectives, by the MPI library and by ours in turn: the call and its wait, and how much of that is left where the
 * program computes between the two (nonblocking.py). With the word "persistent" such ones, started again for each call; and what
 * making and freeing one takes; with "vectors" those with a length for each rank, with "neighbours" those of ranks in a row. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unisono.h"

enum { CALLS = 200, WAYS = 2 };

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
static void make(int which, char *send, char *receive, int bytes, MPI_Comm comm, MPI_Request *request)
{
    switch (which) {
    case 0: MPI_Allreduce_init(send, receive, bytes / 8, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, request); break;
    case 1: MPI_Reduce_init(send, receive, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, comm, MPI_INFO_NULL, request); break;
    case 2: MPI_Bcast_init(send, bytes, MPI_BYTE, 0, comm, MPI_INFO_NULL, request); break;
    case 3: MPI_Allgather_init(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm, MPI_INFO_NULL, request); break;
    case 4: MPI_Alltoall_init(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm, MPI_INFO_NULL, request); break;
    default: MPI_Barrier_init(comm, MPI_INFO_NULL, request);
    }
}
#else
static void make(int which, char *send, char *receive, int bytes, MPI_Comm comm, MPI_Request *request)
{
    (void)which, (void)send, (void)receive, (void)bytes, (void)request;
    fprintf(stderr, "this MPI has no persistent collectives\n");
    MPI_Abort(comm, 2);
}
#endif

enum { USUAL = 6, VECTORS = 12, KINDS = 17, RANKS = 64 };
static const char *const names[KINDS] = {"iallreduce",
                                         "ireduce",
                                         "ibcast",
                                         "iallgather",
                                         "ialltoall",
                                         "ibarrier",
                                         "iallgatherv",
                                         "ialltoallv",
                                         "igatherv",
                                         "iscatterv",
                                         "ireduce_scatter",
                                         "ialltoallw",
                                         "ineighbor_allgather",
                                         "ineighbor_allgatherv",
                                         "ineighbor_alltoall",
                                         "ineighbor_alltoallv",
                                         "ineighbor_alltoallw"};
static int ranks;
static bool is_persistent;

/* All blocks of `bytes`, and of a sum as many in all. */
static void begin_vector(int which, char *send, char *receive, int bytes, MPI_Comm comm, MPI_Request *request)
{
    static int counts[RANKS], at[RANKS], numbers[RANKS]; /* until it is waited for */
    static MPI_Datatype types[RANKS];
    for (int i = 0; i < ranks; i++) {
        counts[i] = bytes, at[i] = i * bytes, numbers[i] = bytes / 8 / ranks + (i < bytes / 8 % ranks);
        types[i] = MPI_BYTE;
    }
    switch (which) {
    case 6: MPI_Iallgatherv(send, bytes, MPI_BYTE, receive, counts, at, MPI_BYTE, comm, request); break;
    case 7: MPI_Ialltoallv(send, counts, at, MPI_BYTE, receive, counts, at, MPI_BYTE, comm, request); break;
    case 8: MPI_Igatherv(send, bytes, MPI_BYTE, receive, counts, at, MPI_BYTE, 0, comm, request); break;
    case 9: MPI_Iscatterv(send, counts, at, MPI_BYTE, receive, bytes, MPI_BYTE, 0, comm, request); break;
    case 10: MPI_Ireduce_scatter(send, receive, numbers, MPI_DOUBLE, MPI_SUM, comm, request); break;
    default: MPI_Ialltoallw(send, counts, at, types, receive, counts, at, types, comm, request);
    }
}

/* With the rank before and the rank behind. */
static void begin_near(int which, char *send, char *receive, int bytes, MPI_Comm comm, MPI_Request *request)
{
    enum { SIDES = 2 };
    static int counts[SIDES], at[SIDES];
    static MPI_Aint far[SIDES];
    static MPI_Datatype types[SIDES];
    for (int i = 0; i < SIDES; i++)
        counts[i] = bytes, far[i] = at[i] = i * bytes, types[i] = MPI_BYTE;
    switch (which) {
    case 12: MPI_Ineighbor_allgather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm, request); break;
    case 13: MPI_Ineighbor_allgatherv(send, bytes, MPI_BYTE, receive, counts, at, MPI_BYTE, comm, request); break;
    case 14: MPI_Ineighbor_alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm, request); break;
    case 15: MPI_Ineighbor_alltoallv(send, counts, at, MPI_BYTE, receive, counts, at, MPI_BYTE, comm, request); break;
    default: MPI_Ineighbor_alltoallw(send, counts, far, types, receive, counts, far, types, comm, request);
    }
}

static void begin(int which, char *send, char *receive, int bytes, MPI_Comm comm, MPI_Request *request)
{
    switch (which) {
    case 0: MPI_Iallreduce(send, receive, bytes / 8, MPI_DOUBLE, MPI_SUM, comm, request); break;
    case 1: MPI_Ireduce(send, receive, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, comm, request); break;
    case 2: MPI_Ibcast(send, bytes, MPI_BYTE, 0, comm, request); break;
    case 3: MPI_Iallgather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm, request); break;
    case 4: MPI_Ialltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm, request); break;
    case 5: MPI_Ibarrier(comm, request); break;
    default: (which < VECTORS ? begin_vector : begin_near)(which, send, receive, bytes, comm, request);
    }
}

/* Seconds of one, of the slowest rank, where every rank computes for so long between call and wait; without what it computes. */
static double measure(int which, char *send, char *receive, int bytes, double computes, MPI_Comm comm)
{
    double mine, slowest;
    MPI_Request request = MPI_REQUEST_NULL;
    if (is_persistent)
        make(which, send, receive, bytes, comm, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++) {
        if (is_persistent)
            MPI_Start(&request);
        else
            begin(which, send, receive, bytes, comm, &request);
        for (double until = MPI_Wtime() + computes; computes > 0 && MPI_Wtime() < until;)
            ;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    mine = (MPI_Wtime() - start) / CALLS - computes;
    if (is_persistent)
        MPI_Request_free(&request);
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* Seconds in which a persistent one is made and freed, many at a time; of the slowest rank. */
static double measure_making(char *send, char *receive, MPI_Comm comm)
{
    enum { TOGETHER = 50 };
    MPI_Request requests[TOGETHER];
    double mine, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++) {
        make(0, send, receive, 8, comm, &requests[i % TOGETHER]);
        for (int k = 0; i % TOGETHER == TOGETHER - 1 && k < TOGETHER; k++)
            MPI_Request_free(&requests[k]);
    }
    mine = (MPI_Wtime() - start) / CALLS;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

int main(int argc, char **argv)
{
    int rank, rounds = argc > 1 ? atoi(argv[1]) : 20;
    int (*use)(MPI_Comm, const char *, const char *);
    MPI_Comm comms[WAYS];
    is_persistent = argc > 2 && strcmp(argv[2], "persistent") == 0;
    const bool vectors = argc > 2 && strcmp(argv[2], "vectors") == 0,
               neighbours = argc > 2 && strcmp(argv[2], "neighbours") == 0;
    const int first = neighbours ? VECTORS : vectors ? USUAL : 0, end = neighbours ? KINDS : vectors ? VECTORS : USUAL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    *(void **)&use = dlsym(RTLD_DEFAULT, "unisono_use");
    for (int way = 0; way < WAYS; way++) {
        if (neighbours)
            MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &(int){0}, 0, &comms[way]);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[way]);
        for (int i = first; use != NULL && way == 1 && i < end; i++)
            if (use(comms[way], names[i], "unisono/posted") != 0)
                MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (int which = first; which < end; which++)
        for (int bytes = 8; bytes <= (which != 5 ? 32768 / (which == 4 ? ranks : 1) : 8); bytes *= 8) {
            char *send = calloc((size_t)ranks, (size_t)bytes), *receive = calloc((size_t)ranks, (size_t)bytes);
            for (int round = -2; round < rounds; round++) {
                double plain[WAYS], hidden[WAYS];
                for (int way = 0; way < WAYS; way++)
                    plain[way] = measure(which, send, receive, bytes, 0, comms[way]);
                double computes = 2 * (plain[0] > plain[1] ? plain[0] : plain[1]);
                for (int way = 0; way < WAYS; way++)
                    hidden[way] = measure(which, send, receive, bytes, computes, comms[way]);
                if (rank == 0 && round >= 0)
                    printf("%s %d %.9f %.9f %.9f %.9f\n", names[which], bytes, plain[0], plain[1], hidden[0],
                           hidden[1]);
            }
            free(send);
            free(receive);
        }
    for (int round = -2; is_persistent && round < rounds; round++) {
        char send[8], receive[8];
        double taken[WAYS];
        for (int way = 0; way < WAYS; way++)
            taken[way] = measure_making(send, receive, comms[way]);
        if (rank == 0 && round >= 0)
            printf("allreduce_init 8 %.9f %.9f 0 0\n", taken[0], taken[1]);
    }
    for (int way = 0; way < WAYS; way++)
        MPI_Comm_free(&comms[way]);
    MPI_Finalize();
    return 0;
}
