/* What MPI forbids is said as the library underneath says it, callbacks of the program are not run by our doing, what we
 * do not serve works; with the argument "kill", rank 1 dies amid a collective. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

static int copied, handled, ended, bad;

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    copied++;
    *flag = 0;
    return MPI_SUCCESS;
}

/* When its communicator ends, which may be used once more. */
static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    int one = 1, sum = 0, ranks;
    (void)key, (void)value, (void)extra;
    MPI_Comm_size(comm, &ranks);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    bad += sum != ranks;
    ended++;
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

static void add_both(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < 2 * *count; i += 2)
        b[i] += a[i], b[i + 3] += a[i + 3];
}

/* Elements as large as their extent that are not in it: numbers 0 and 3, the next 2 and 5. */
static void beyond(int rank, int ranks, MPI_Comm comm)
{
    enum { COUNT = 9, NUMBERS = 2 * COUNT + 2 };
    const int at[2] = {0, 3};
    int in[NUMBERS], out[NUMBERS];
    MPI_Datatype part, type;
    MPI_Op op;
    MPI_Type_create_indexed_block(2, 1, at, MPI_INT, &part);
    MPI_Type_create_resized(part, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_both, 1, &op);
    for (int i = 0; i < NUMBERS; i++)
        in[i] = rank, out[i] = -1;
    MPI_Allreduce(in, out, COUNT, type, op, comm);
    for (int i = 0; i < NUMBERS; i++)
        bad += out[i] != (i == 1 || i == NUMBERS - 2 ? -1 : ranks * (ranks - 1) / 2);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Type_free(&part);
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
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Comm_set_attr(comm, key, &key);
    for (int i = 0; i < 5; i++) {
        MPI_Barrier(comm);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
    bad += copied;
    beyond(rank, ranks, comm);
    MPI_Comm_create_errhandler(handler, &errors);
    MPI_Comm_set_errhandler(comm, errors);
    forbidden(comm);
    not_served(rank, ranks);
    MPI_Errhandler_free(&errors);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
    bad += ended != 1;
    PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(all == 0 ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
