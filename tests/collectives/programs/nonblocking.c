/* Nonblocking collectives as programs use them; "right" at the end. First word: what to try. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, ranks, wrong;

static void expect(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
        wrong = 1;
    }
}

static double sum_of(double first) /* of first, first + 1 ... over the ranks */
{
    return ranks * first + ranks * (ranks - 1) / 2.0;
}

/* So many under way that there is no room for all of ours, on ranks that come and wait at different times. */
static void many(MPI_Comm comm)
{
    enum { UNDER_WAY = 300, AHEAD = 100, LENGTH = 700 };
    static MPI_Request requests[UNDER_WAY];
    static double from[UNDER_WAY][LENGTH], to[UNDER_WAY][LENGTH];
    for (int round = 0; round < 3; round++) {
        int zero = 0;
        if (rank == 0) /* the others are so far ahead that there is no more room */
            MPI_Recv(&zero, 1, MPI_INT, 1, 9, comm, MPI_STATUS_IGNORE);
        for (int k = 0; k < UNDER_WAY; k++) {
            int count = 1 + (k * 37 + round * 11) % (k % 5 == 0 ? LENGTH : 12), over;
            if (rank == 1 && k == AHEAD)
                MPI_Send(&zero, 1, MPI_INT, 0, 9, comm);
            for (int i = 0; i < count; i++)
                from[k][i] = k + rank + i;
            MPI_Iallreduce(from[k], to[k], count, MPI_DOUBLE, MPI_SUM, comm, &requests[k]);
            if ((k + rank) % 41 == 0)
                MPI_Test(&requests[(k + rank) / 2 % (k + 1)], &over, MPI_STATUS_IGNORE);
            if (k % 100 == 50 * (rank % 2))
                usleep(300);
        }
        MPI_Waitall(UNDER_WAY, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < UNDER_WAY; k++) {
            int count = 1 + (k * 37 + round * 11) % (k % 5 == 0 ? LENGTH : 12);
            for (int i = 0; i < count; i++)
                expect(to[k][i] == sum_of(k + i), "one of many");
        }
    }
}

/* The first request of two is a message that comes only when this rank has begun the collective. */
static void mixed(MPI_Comm comm)
{
    for (int k = 0; k < 50; k++) {
        int got = -1, which, zero = 0, one = 1, all = 0, done = 0, some[2], count;
        MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (rank == 0) {
            MPI_Irecv(&got, 1, MPI_INT, 1, 7, comm, &requests[0]);
            MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
            if (k % 2 == 0)
                MPI_Waitany(3, requests, &which, MPI_STATUS_IGNORE);
            else {
                MPI_Waitsome(3, requests, &count, some, MPI_STATUSES_IGNORE);
                which = some[0];
            }
            expect(which == 0 && got == k, "the message");
            MPI_Send(&zero, 1, MPI_INT, 1, 8, comm);
            while (!done)
                MPI_Testall(3, requests, &done, MPI_STATUSES_IGNORE);
        } else {
            if (rank == 1) { /* begins the collective only after the answer to the message */
                MPI_Send(&k, 1, MPI_INT, 0, 7, comm);
                MPI_Recv(&zero, 1, MPI_INT, 0, 8, comm, MPI_STATUS_IGNORE);
            }
            MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        }
        expect(all == ranks, "the sum beside a message");
    }
}

/* Functions of MPI 4.1 that look at requests and leave them. */
static void looks(MPI_Comm comm)
{
#if 10 * MPI_VERSION + MPI_SUBVERSION >= 41
    for (int k = 0; k < 30; k++) {
        double from[2] = {rank + k, rank + k + 1}, to[2] = {0, 0};
        MPI_Request requests[2], copy[2];
        int done = 0, which, count, places[2];
        for (int i = 0; i < 2; i++)
            MPI_Iallreduce(&from[i], &to[i], 1, MPI_DOUBLE, MPI_SUM, comm, &requests[i]);
        memcpy(copy, requests, sizeof copy);
        while (!done)
            if (k % 3 == 0)
                MPI_Request_get_status_all(2, requests, &done, MPI_STATUSES_IGNORE);
            else if (k % 3 == 1)
                MPI_Request_get_status_any(2, requests, &which, &done, MPI_STATUS_IGNORE);
            else {
                MPI_Request_get_status_some(2, requests, &count, places, MPI_STATUSES_IGNORE);
                done = count == 2;
            }
        expect(memcmp(copy, requests, sizeof copy) == 0, "a request that was only looked at");
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2; i++)
            expect(to[i] == sum_of(k + i), "a sum that was looked at");
    }
#else
    (void)comm;
#endif
}

/* Communicators end while requests are under way, which are waited for afterwards. Open MPI's own crash there (5.0.11): ours have to
 * be served. */
static void ended(void)
{
    for (int k = 0; k < 40; k++) {
        MPI_Comm copy;
        MPI_Request requests[8];
        double from[8] = {0}, to[8], all;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        for (int i = 0; i < 30; i++) /* after some of these all ranks have memory for ours */
            MPI_Iallreduce(&from[0], &all, 1, MPI_DOUBLE, MPI_SUM, copy, &requests[0]),
                MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        for (int i = 0; i < 8; i++) {
            from[i] = rank + i + k;
            MPI_Iallreduce(&from[i], &to[i], 1, MPI_DOUBLE, MPI_SUM, copy, &requests[i]);
        }
        MPI_Comm_free(&copy);
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 8; i++)
            expect(to[i] == sum_of(i + k), "a sum on a communicator that has ended");
    }
}

/* A type that the program frees before the request is over, and one that it makes anew meanwhile. */
static void types(MPI_Comm comm)
{
    for (int k = 0; k < 20; k++) {
        MPI_Datatype spread, other;
        MPI_Request request;
        int data[20];
        for (int i = 0; i < 20; i++)
            data[i] = rank == k % ranks ? i : -1;
        MPI_Type_vector(5, 1, 2, MPI_INT, &spread);
        MPI_Type_commit(&spread);
        MPI_Ibcast(data, 2, spread, k % ranks, comm, &request);
        MPI_Type_free(&spread);
        MPI_Type_vector(3, 2, 3, MPI_INT, &other);
        MPI_Type_commit(&other);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Type_free(&other);
        for (int i = 0; i < 18; i++) /* the second begins at the first's end, which is at 9 */
            if (rank != k % ranks)
                expect(data[i] == (i < 9 ? (i % 2 == 0 ? i : -1) : (i % 2 == 1 ? i : -1)), "an element between gaps");
    }
}

/* A rank that computes for long between its two calls: the others have what they want without it. */
static void without_me(MPI_Comm comm, const char *path)
{
    int file = open(path, O_RDWR | O_CREAT, 0600), *first;
    if (file < 0 || ftruncate(file, 4096) != 0)
        MPI_Abort(comm, 3);
    first = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (int k = 1; k <= 5; k++) {
        static double from[300], to[300];
        MPI_Request request;
        for (int i = 0; i < 300; i++)
            from[i] = rank + i + k;
        MPI_Barrier(comm);
        MPI_Iallreduce(from, to, 300, MPI_DOUBLE, MPI_SUM, comm, &request);
        /* Ranks but 0 are outside of MPI until rank 0 has its result. */
        for (int turn = 0; rank > 0 && __atomic_load_n(first, __ATOMIC_ACQUIRE) < k && turn < 20000; turn++)
            usleep(500);
        expect(rank == 0 || __atomic_load_n(first, __ATOMIC_ACQUIRE) >= k, "rank 0 without the others in MPI");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 0)
            __atomic_store_n(first, k, __ATOMIC_RELEASE);
        for (int i = 0; i < 300; i++)
            expect(to[i] == sum_of(i + k), "a sum without the others in MPI");
    }
    munmap(first, 4096);
    close(file);
}

/* From now on; files that are open stay so. */
static void open_no_file(void)
{
    int next = dup(0);
    struct rlimit limit = {.rlim_cur = (rlim_t)next, .rlim_max = (rlim_t)next};
    close(next);
    if (next < 0 || setrlimit(RLIMIT_NOFILE, &limit) != 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Nothing but calls that do not block, on a copy of the world and on a communicator of every second rank: first all of a number at
 * once, of which some ranks begin many before others begin one, then one after the other. */
static void only_these(int then)
{
    enum { AT_ONCE = 200 };
    for (int k = 0; k < 6; k++) {
        static MPI_Request requests[AT_ONCE];
        static int from[AT_ONCE], to[AT_ONCE];
        MPI_Comm comm;
        int first = ranks > 3 && k % 2 ? rank % 2 : 0, step = ranks > 3 && k % 2 ? 2 : 1, size, sum;
        if (k % 2)
            MPI_Comm_split(MPI_COMM_WORLD, step == 2 ? rank % 2 : 0, rank, &comm);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_size(comm, &size);
        sum = size * first + step * size * (size - 1) / 2;
        for (int i = 0; i < AT_ONCE; i++) {
            from[i] = rank + i;
            if (i % 60 == 20 * (rank % 3))
                usleep(2000);
            MPI_Iallreduce(&from[i], &to[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
        }
        if (k < 4)
            MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < then; i++) {
            int one = rank + i, all = 0;
            MPI_Request request;
            MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            expect(all == sum + size * i, "a sum where all calls are nonblocking");
        }
        if (k >= 4)
            MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < AT_ONCE; i++)
            expect(to[i] == sum + size * i, "a sum of many where all calls are nonblocking");
        MPI_Comm_free(&comm);
    }
}

/* The MPI library's own PMPI_Comm_free, by which nobody hears of it; NULL: not found. */
static int (*free_unheard(void))(MPI_Comm *)
{
    int (*own)(MPI_Comm *) = NULL;
    Dl_info where;
    void *library = NULL;
    if (dladdr(dlsym(RTLD_DEFAULT, "PMPI_Wtime"), &where) != 0)
        library = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (library != NULL)
        *(void **)&own = dlsym(library, "PMPI_Comm_free");
    return own;
}

/* Communicators that end as soon as they may have been offered memory, in the ways in which a program, or a tool of its, ends
 * them. In Open MPI (5.0.11) broadcasts under way there crash: they have to be heard of. */
static void short_ones(void)
{
    int (*ways[3])(MPI_Comm *) = {MPI_Comm_free, PMPI_Comm_free, MPI_Comm_free};
#ifdef MPICH
    ways[2] = free_unheard();
#else
    (void)free_unheard;
#endif
    for (int k = 0; k < 60; k++) {
        MPI_Comm comm;
        MPI_Request requests[20];
        int one = 1, all[20];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < k % 20; i++)
            MPI_Iallreduce(&one, &all[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
        MPI_Waitall(k % 20, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < k % 20; i++)
            expect(all[i] == ranks, "a sum on a communicator that ends soon");
        ways[k / 20](&comm);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Comm copy;
    int any = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(what, "alone") == 0 && argc > 2)
        without_me(MPI_COMM_WORLD, argv[2]);
    else if (strcmp(what, "only") == 0) {
        if (argc > 3 && atoi(argv[3]) == rank)
            open_no_file();
        only_these(argc > 2 ? atoi(argv[2]) : 0);
        short_ones();
    } else {
        many(MPI_COMM_WORLD);
        mixed(MPI_COMM_WORLD);
        looks(MPI_COMM_WORLD);
        types(MPI_COMM_WORLD);
        if (strcmp(what, "nodes") != 0) /* where those on a copy are the MPI library's */
            ended();
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        mixed(copy);
        many(copy);
        mixed(copy);
        MPI_Comm_free(&copy);
    }
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", any ? "wrong" : "right");
    MPI_Finalize();
    return wrong;
}
