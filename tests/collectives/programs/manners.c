/* What MPI forbids is said as the library underneath says it, callbacks of the program are not run by our doing, what we
 * do not serve works; with the argument "kill", rank 1 dies amid a collective. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

static int copied, handled, bad;

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    copied++;
    *flag = 0;
    return MPI_SUCCESS;
}

static void handler(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    handled++;
}

#define SAME(name, ...)                                                                                                \
    do {                                                                                                               \
        int ours = MPI_##name(__VA_ARGS__), mine = handled, theirs = PMPI_##name(__VA_ARGS__);                         \
        int a = MPI_SUCCESS, b = MPI_SUCCESS;                                                                          \
        MPI_Error_class(ours, &a);                                                                                     \
        MPI_Error_class(theirs, &b);                                                                                   \
        if (a != b || a == MPI_SUCCESS || handled != 2 * mine || mine != 1)                                            \
            bad++, printf("%s: class %d, not %d; %d calls of the handler\n", #__VA_ARGS__, a, b, mine);                \
        handled = 0;                                                                                                   \
    } while (0)

static void forbidden(MPI_Comm comm)
{
    int in[16] = {0}, out[16];
    SAME(Bcast, in, -1, MPI_INT, 0, comm);
    SAME(Bcast, in, 1, MPI_DATATYPE_NULL, 0, comm);
    SAME(Bcast, in, 1, MPI_INT, 99, comm);
    SAME(Reduce, in, out, 1, MPI_INT, MPI_OP_NULL, 0, comm);
#ifndef MPICH /* crashes at it by itself */
    SAME(Allreduce, in, out, -1, MPI_INT, MPI_SUM, comm);
#endif
    SAME(Allreduce, in, out, 1, MPI_DOUBLE, MPI_BAND, comm);
    SAME(Allgather, in, 1, MPI_INT, out, -1, MPI_INT, comm);
    SAME(Alltoall, in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm);
}

/* Two groups, and what is not blocking: not ours, but they pass by us. */
static void not_served(int rank, int ranks)
{
    MPI_Comm half, inter;
    MPI_Request request;
    int one = 1, sum = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
    for (int i = 0; i < 5; i++) {
        MPI_Barrier(inter);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
        bad += sum != (rank % 2 == 0 ? ranks / 2 : (ranks + 1) / 2);
    }
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    bad += sum != ranks;
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int rank, ranks, key, sum, all;
    MPI_Comm comm;
    MPI_Errhandler errors;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && strcmp(argv[1], "kill") == 0) {
        for (int i = 0; i < 100000000; i++) {
            if (rank == 1 && i == 1000)
                raise(SIGKILL);
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, &key);
    for (int i = 0; i < 5; i++) {
        MPI_Barrier(comm);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
    bad += copied;
    MPI_Comm_create_errhandler(handler, &errors);
    MPI_Comm_set_errhandler(comm, errors);
    forbidden(comm);
    not_served(rank, ranks);
    MPI_Errhandler_free(&errors);
    MPI_Comm_free(&comm);
    PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(all == 0 ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
