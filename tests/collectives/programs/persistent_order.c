/* Persistent collectives that each rank starts in an order of its own, many at a time and many times over, and waits for in any way,
 * with others among them that are not active; "right" at the end, "none" where the MPI has none. The first argument is how many
 * rounds of making, starting and freeing there are, the second how many elements a long one has. With a third, "world", it is on
 * MPI_COMM_WORLD alone, and nothing that Open MPI 5.0 cannot do by itself; with "nodes", over several nodes, where ours have no bound on how many there are. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)

enum { REQUESTS = 33, KINDS = 11, STARTS = 6, SHORT = 24, RANKS_MOST = 16 };
enum { ALLREDUCE, BCAST, ALLGATHER, BARRIER, SCAN, GATHER, REDUCE, ALLTOALL, SCATTER, EXSCAN, REDUCE_SCATTER };

static int rank, ranks, wrong;
static int
    some_are_the_mpis; /* as there is no room for all; what it says of those that are not active is its own affair */
static unsigned own_chance, shared_chance = 1;

static unsigned next_of(unsigned *chance)
{
    *chance = *chance * 1664525u + 1013904223u;
    return *chance >> 8;
}

static void expect(int good, const char *what, int kind)
{
    if (!good && !wrong) {
        fprintf(stderr, "rank %d: %s of kind %d is wrong\n", rank, what, kind);
        wrong = 1;
    }
}

struct one {
    int kind, count, root, in_place, number, starts, is_active;
    int *given, *got;
    MPI_Datatype type;
    int gap; /* between elements of `got` */
};

static int value(const struct one *one, int start, int from, int index)
{
    return one->number * 1000 + start * 100 + from * 7 + index % 50;
}

/* The same arguments on all ranks, but for in place and gaps. */
static void make(struct one *one, MPI_Request *request, int number, int longest, MPI_Comm comm)
{
    const MPI_Info none = MPI_INFO_NULL;
    int count = 1 + (int)(next_of(&shared_chance) % (next_of(&shared_chance) % 5 == 0 ? (unsigned)longest : SHORT));
    *one = (struct one){.kind = number % KINDS, .count = count, .number = number % 1000};
    one->root = (int)(next_of(&shared_chance) % (unsigned)ranks);
    one->in_place = one->kind == ALLREDUCE && next_of(&own_chance) % 2;
    one->gap =
        one->kind == BCAST || one->kind == GATHER || one->kind == ALLGATHER ? (int)(next_of(&own_chance) % 2) : 0;
    one->given = calloc((size_t)count * (size_t)ranks, sizeof(int));
    one->got = calloc((size_t)count * (size_t)ranks * 2, sizeof(int));
    MPI_Type_vector(count, 1, 1 + one->gap, MPI_INT, &one->type);
    MPI_Datatype resized;
    MPI_Type_create_resized(one->type, 0, (MPI_Aint)((size_t)count * (size_t)(1 + one->gap) * sizeof(int)), &resized);
    MPI_Type_free(&one->type);
    one->type = resized;
    MPI_Type_commit(&one->type);
    int *given = one->given, *got = one->got, root = one->root;
    const void *send = one->in_place ? MPI_IN_PLACE : given;
    switch (one->kind) {
    case ALLREDUCE: MPI_Allreduce_init(send, got, count, MPI_INT, MPI_SUM, comm, none, request); break;
    case BCAST: MPI_Bcast_init(got, 1, one->type, root, comm, none, request); break;
    case ALLGATHER: MPI_Allgather_init(given, count, MPI_INT, got, 1, one->type, comm, none, request); break;
    case BARRIER: MPI_Barrier_init(comm, none, request); break;
    case SCAN: MPI_Scan_init(given, got, count, MPI_INT, MPI_SUM, comm, none, request); break;
    case GATHER: MPI_Gather_init(given, count, MPI_INT, got, 1, one->type, root, comm, none, request); break;
    case REDUCE: MPI_Reduce_init(given, got, count, MPI_INT, MPI_SUM, root, comm, none, request); break;
    case ALLTOALL: MPI_Alltoall_init(given, count, MPI_INT, got, count, MPI_INT, comm, none, request); break;
    case SCATTER: MPI_Scatter_init(given, count, MPI_INT, got, count, MPI_INT, root, comm, none, request); break;
    case EXSCAN: MPI_Exscan_init(given, got, count, MPI_INT, MPI_SUM, comm, none, request); break;
    default: MPI_Reduce_scatter_block_init(given, got, count, MPI_INT, MPI_SUM, comm, none, request);
    }
}

static void start(struct one *one, MPI_Request *request)
{
    const int count = one->count, step = 1 + one->gap;
    memset(one->got, 0, (size_t)count * (size_t)ranks * 2 * sizeof(int));
    for (int i = 0; i < count * ranks; i++)
        one->given[i] = value(one, one->starts, rank, i);
    for (int i = 0; i < count && (one->in_place || (one->kind == BCAST && rank == one->root)); i++)
        one->got[i * step] = value(one, one->starts, rank, i);
    MPI_Start(request);
    one->is_active = 1;
}

static int sum_of(const struct one *one, int until, int index)
{
    int all = 0;
    for (int i = 0; i < until; i++)
        all += value(one, one->starts, i, index);
    return all;
}

/* Whether the block at `got` is `rank`'s. */
static void expect_block(const struct one *one, const int *got, int from, int first)
{
    for (int i = 0; i < one->count; i++) {
        expect(got[i * (1 + one->gap)] == value(one, one->starts, from, first + i), "a block", one->kind);
        expect(!one->gap || got[2 * i + 1] == 0, "a gap", one->kind);
    }
}

static void end(struct one *one)
{
    const int count = one->count, step = count * (1 + one->gap);
    for (int i = 0; i < count; i++)
        switch (one->kind) {
        case ALLREDUCE: expect(one->got[i] == sum_of(one, ranks, i), "a sum", one->kind); break;
        case SCAN: expect(one->got[i] == sum_of(one, rank + 1, i), "a sum", one->kind); break;
        case EXSCAN: expect(one->got[i] == (rank > 0 ? sum_of(one, rank, i) : 0), "a sum", one->kind); break;
        case REDUCE: expect(rank != one->root || one->got[i] == sum_of(one, ranks, i), "a sum", one->kind); break;
        case REDUCE_SCATTER: expect(one->got[i] == sum_of(one, ranks, rank * count + i), "a sum", one->kind); break;
        default: break;
        }
    for (int i = 0; i < ranks; i++)
        switch (one->kind) {
        case ALLGATHER: expect_block(one, one->got + i * step, i, 0); break;
        case GATHER:
            if (rank == one->root)
                expect_block(one, one->got + i * step, i, 0);
            break;
        case ALLTOALL: expect_block(one, one->got + i * step, i, rank * count); break;
        default: break;
        }
    if (one->kind == BCAST)
        expect_block(one, one->got, one->root, 0);
    if (one->kind == SCATTER)
        expect_block(one, one->got, one->root, rank * count);
    one->is_active = 0;
    one->starts++;
}

static void expect_empty(const MPI_Status *status)
{
    int count = -1, cancelled = -1;
    MPI_Get_count(status, MPI_INT, &count);
    MPI_Test_cancelled(status, &cancelled);
    expect((count == 0 || some_are_the_mpis) && cancelled == 0, "a status", -1);
}

/* Ends what is over by one of the ways, among those that are not active. */
static void look(struct one *ones, MPI_Request *requests)
{
    MPI_Status statuses[REQUESTS], status;
    int which = MPI_UNDEFINED, done = 0, some = 0, places[REQUESTS], active = 0;
    for (int i = 0; i < REQUESTS; i++)
        active += ones[i].is_active;
    switch (next_of(&own_chance) % 6) {
    case 0:
        MPI_Testany(REQUESTS, requests, &which, &done, &status);
        expect(active > 0 || (done && which == MPI_UNDEFINED), "MPI_Testany", -1);
        break;
    case 1:
        MPI_Testsome(REQUESTS, requests, &some, places, statuses);
        expect((active == 0) == (some == MPI_UNDEFINED), "MPI_Testsome", -1);
        break;
    case 2:
        MPI_Testall(REQUESTS, requests, &done, statuses);
        for (int i = 0; done && i < REQUESTS; i++) {
            expect_empty(&statuses[i]);
            if (ones[i].is_active)
                end(&ones[i]);
        }
        return;
    case 3:
        which = (int)(next_of(&own_chance) % REQUESTS);
        MPI_Request_get_status(requests[which], &done, &status);
        expect(done || ones[which].is_active, "MPI_Request_get_status", -1);
        if (done)
            MPI_Wait(&requests[which], &status);
        which = done ? which : MPI_UNDEFINED;
        done = which != MPI_UNDEFINED && ones[which].is_active;
        which = done ? which : MPI_UNDEFINED;
        break;
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    case 4:
        MPI_Request_get_status_any(REQUESTS, requests, &which, &done, &status);
        expect(active > 0 || (done && which == MPI_UNDEFINED), "MPI_Request_get_status_any", -1);
        if (done && which != MPI_UNDEFINED)
            MPI_Wait(&requests[which], &status);
        MPI_Request_get_status_some(REQUESTS, requests, &some, places, statuses);
        MPI_Request_get_status_all(REQUESTS, requests, &done, statuses);
        some = 0;
        done = which != MPI_UNDEFINED;
        break;
#endif
    default:
        which = (int)(next_of(&own_chance) % REQUESTS);
        MPI_Test(&requests[which], &done, &status);
        if (!ones[which].is_active) {
            expect(done, "MPI_Test of one that is not active", -1);
            expect_empty(&status);
            which = MPI_UNDEFINED;
        }
    }
    if (done && which != MPI_UNDEFINED)
        end(&ones[which]);
    for (int i = 0; some != MPI_UNDEFINED && i < some; i++)
        end(&ones[places[i]]);
}

/* All are started STARTS times, by each rank in an order of its own; the last ones are waited for. */
static void start_all(struct one *ones, MPI_Request *requests)
{
    int left = REQUESTS * STARTS, which, some, places[REQUESTS];
    for (int i = 0; i < REQUESTS; i++)
        ones[i].starts = 0;
    while (left > 0) {
        int i = (int)(next_of(&own_chance) % REQUESTS);
        for (int k = 0; k < REQUESTS && (ones[i].is_active || ones[i].starts == STARTS); k++)
            i = (i + 1) % REQUESTS;
        if (!ones[i].is_active && ones[i].starts < STARTS) {
            start(&ones[i], &requests[i]);
            left--;
        }
        if (next_of(&own_chance) % 2)
            look(ones, requests);
        else if (left % 7 == 0) { /* one that others may be long in starting: there may be nothing but to look */
            for (int k = 0; k < 50; k++)
                look(ones, requests);
        }
    }
    switch (next_of(&own_chance) % 3) {
    case 0:
        for (;;) {
            MPI_Waitany(REQUESTS, requests, &which, MPI_STATUS_IGNORE);
            if (which == MPI_UNDEFINED)
                break;
            end(&ones[which]);
        }
        break;
    case 1:
        for (;;) {
            MPI_Waitsome(REQUESTS, requests, &some, places, MPI_STATUSES_IGNORE);
            if (some == MPI_UNDEFINED)
                break;
            for (int i = 0; i < some; i++)
                end(&ones[places[i]]);
        }
        break;
    default:
        MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < REQUESTS; i++)
            if (ones[i].is_active)
                end(&ones[i]);
    }
    for (int i = 0; i < REQUESTS; i++)
        expect(ones[i].starts == STARTS && !ones[i].is_active, "how often it was started", ones[i].kind);
}

static void discard(struct one *one, MPI_Request *request)
{
    MPI_Request_free(request);
    MPI_Type_free(&one->type);
    free(one->given);
    free(one->got);
}

static void in_any_order(int rounds, int longest, MPI_Comm comm)
{
    static struct one ones[REQUESTS];
    static MPI_Request requests[REQUESTS];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < REQUESTS; i++) {
            if (round > 0 && next_of(&shared_chance) % 3 == 0)
                continue;
            if (round > 0)
                discard(&ones[i], &requests[i]);
            make(&ones[i], &requests[i], round * REQUESTS + i, longest, comm);
        }
        start_all(ones, requests);
    }
    for (int i = 0; i < REQUESTS; i++)
        discard(&ones[i], &requests[i]);
}

/* A root that others keep up with, or that waits in a message for what they do after it. */
static void fast_root(MPI_Comm comm)
{
    enum { TURNS = 300 };
    int data = 0, note = 0, got = 0, all[RANKS_MOST] = {0};
    MPI_Request requests[2];
    MPI_Bcast_init(&data, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Gather_init(&got, 1, MPI_INT, all, 1, MPI_INT, ranks - 1, comm, MPI_INFO_NULL, &requests[1]);
    for (int k = 0; k < TURNS; k++) {
        data = rank == 0 ? k : -1;
        MPI_Start(&requests[0]);
        if (rank > 0 && k % 50 == 49)
            usleep(2000);
        if (k % 10 == 9 && rank == 0)
            for (int i = 1; i < ranks; i++)
                MPI_Recv(&note, 1, MPI_INT, i, 4, comm, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        if (k % 10 == 9 && rank > 0)
            MPI_Send(&note, 1, MPI_INT, 0, 4, comm);
        expect(data == k, "a broadcast", BCAST);
        got = k * 20 + rank;
        MPI_Start(&requests[1]);
        if (rank == ranks - 1 && k % 50 == 0)
            usleep(2000);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        for (int i = 0; rank == ranks - 1 && i < ranks; i++)
            expect(all[i] == k * 20 + i, "what was gathered", GATHER);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Requests outlive their communicator. */
static void without_communicator(MPI_Comm comm)
{
    int from = 0, sum = 0;
    MPI_Comm copy;
    MPI_Request requests[2];
    MPI_Comm_dup(comm, &copy);
    for (int i = 0; i < 2; i++)
        MPI_Allreduce_init(&from, &sum, 1, MPI_INT, MPI_SUM, copy, MPI_INFO_NULL, &requests[i]);
    for (int k = 0; k < 8; k++) {
        from = k + rank;
        MPI_Start(&requests[k % 2]);
        if (k == 3)
            MPI_Comm_free(&copy);
        MPI_Wait(&requests[k % 2], MPI_STATUS_IGNORE);
        expect(sum == ranks * k + ranks * (ranks - 1) / 2, "a sum on what has ended", ALLREDUCE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* What is left at the end of the program: one of them has never been started. */
static void leave(MPI_Comm comm)
{
    static int from = 1, sum;
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++)
        MPI_Allreduce_init(&from, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[i]);
    MPI_Start(&requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    expect(sum == ranks, "the last sum", ALLREDUCE);
}

int main(int argc, char **argv)
{
    int any = 0, rounds = argc > 1 ? atoi(argv[1]) : 6, longest = argc > 2 ? atoi(argv[2]) : 1000;
    MPI_Comm copy, reversed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int over_nodes = argc > 3 && strcmp(argv[3], "nodes") == 0;
    const int in_the_world = argc > 3 && !over_nodes;
    some_are_the_mpis = (longest > 2000 && !over_nodes) || in_the_world;
    own_chance = 77u + (unsigned)rank;
    in_any_order(rounds, longest, MPI_COMM_WORLD);
    fast_root(MPI_COMM_WORLD);
    if (!in_the_world) {
        without_communicator(MPI_COMM_WORLD);
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        in_any_order(2, longest, copy);
        MPI_Comm_free(&copy);
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
        MPI_Comm_rank(reversed, &rank);
        in_any_order(2, longest, reversed);
        fast_root(reversed);
        without_communicator(reversed);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_free(&reversed);
        leave(MPI_COMM_WORLD);
    }
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", any ? "wrong" : "right");
    MPI_Finalize();
    return wrong;
}

#else

int main(void)
{
    printf("none\n");
    return 0;
}

#endif
