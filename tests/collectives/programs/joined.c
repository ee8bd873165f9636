/* Ranks start two more processes, which may be without the library, and all call collectives of every kind together, and each side among
 * themselves; "right" at the end, "none" where the MPI starts no processes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { STARTED = 2, LENGTH = 64, CALLS = 12 };

static int wrong;

static void expect(int good, const char *where, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s: %s is wrong\n", where, what);
        wrong = 1;
    }
}

static void later(MPI_Comm comm, int rank, int ranks, const char *where)
{
    for (int k = 0; k < CALLS; k++) {
        int from[LENGTH], sum[LENGTH], shared[LENGTH];
        MPI_Request requests[3];
        for (int i = 0; i < LENGTH; i++) {
            from[i] = rank + i + k;
            shared[i] = rank == k % ranks ? i * k : -1;
        }
        MPI_Iallreduce(from, sum, LENGTH, MPI_INT, MPI_SUM, comm, &requests[0]);
        MPI_Ibcast(shared, LENGTH, MPI_INT, k % ranks, comm, &requests[1]);
        MPI_Ibarrier(comm, &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < LENGTH; i++) {
            expect(sum[i] == ranks * (i + k) + ranks * (ranks - 1) / 2, where, "iallreduce");
            expect(shared[i] == i * k, where, "ibcast");
        }
    }
}

static void persistent(MPI_Comm comm, int rank, int ranks, const char *where)
{
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
    for (int k = 0; k < CALLS; k++) {
        int from[LENGTH], sum[LENGTH];
        MPI_Request request;
        MPI_Allreduce_init(from, sum, LENGTH, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
        for (int start = 0; start < 2; start++) {
            for (int i = 0; i < LENGTH; i++)
                from[i] = rank + i + k + start;
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (int i = 0; i < LENGTH; i++)
                expect(sum[i] == ranks * (i + k + start) + ranks * (ranks - 1) / 2, where, "persistent allreduce");
        }
        MPI_Request_free(&request);
    }
#else
    (void)comm, (void)rank, (void)ranks, (void)where;
#endif
}

static void blocking(MPI_Comm comm, int rank, int ranks, const char *where)
{
    for (int k = 0; k < CALLS; k++) {
        double one = rank + k, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        expect(sum == ranks * k + ranks * (ranks - 1) / 2, where, "allreduce");
        MPI_Barrier(comm);
    }
}

static void all(MPI_Comm comm, const char *where)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    blocking(comm, rank, ranks, where);
    later(comm, rank, ranks, where);
    persistent(comm, rank, ranks, where);
}

int main(int count, char **arguments)
{
    MPI_Comm parent, between, merged, mixed;
    int rank, place;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    all(MPI_COMM_WORLD, "the world");
    between = parent;
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (MPI_Comm_spawn(arguments[0], MPI_ARGV_NULL, STARTED, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                           MPI_ERRCODES_IGNORE) != MPI_SUCCESS) {
            if (rank == 0)
                puts("none");
            MPI_Finalize();
            return 0;
        }
    }
    MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &merged);
    all(merged, "old and new ranks");
    MPI_Comm_rank(merged, &place);
    MPI_Comm_split(merged, place % 2, 0, &mixed);
    all(mixed, "half of old and new ranks");
    MPI_Comm_free(&mixed);
    MPI_Comm_split(merged, parent != MPI_COMM_NULL, 0, &mixed);
    all(mixed, "one side");
    MPI_Comm_free(&mixed);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&between);
    all(MPI_COMM_WORLD, "the world afterwards");
    if (rank == 0 && parent == MPI_COMM_NULL)
        puts(wrong ? "wrong" : "right");
    MPI_Finalize();
    return wrong;
}
