/* Bcast, and reduce of sums and of products of matrices, which do not commute, with every root, in place and apart, on
 * MPI_COMM_WORLD and on its ranks but one in the opposite order: what the MPI library underneath gives; "right", or what is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "matrix.h"

enum { MOST = 3000 };

static const int lengths[] = {0, 1, 12, MOST}; /* matrices */
static MPI_Op product;
static MPI_Datatype matrix;

/* How many of the calls with this root gave something else. */
static int wrong_with(MPI_Comm comm, int root, int length)
{
    static int in[SIDE * MOST], out[SIDE * MOST], expected[SIDE * MOST];
    const size_t room = sizeof in;
    int rank, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < SIDE * MOST; i++)
        in[i] = (31 * rank + 17 * i + root + length) % 97;
    memcpy(out, in, room), memcpy(expected, in, room);
    MPI_Bcast(out, length, matrix, root, comm);
    PMPI_Bcast(expected, length, matrix, root, comm);
    wrong += memcmp(out, expected, room) != 0;
    for (int way = 0; way < 4; way++) {
        const int commutes = way % 2, count = commutes ? SIDE * length : length, in_place = way / 2 && rank == root;
        MPI_Datatype type = commutes ? MPI_INT : matrix;
        MPI_Op op = commutes ? MPI_SUM : product;
        memcpy(out, in, room), memcpy(expected, in, room);
        MPI_Reduce(in_place ? MPI_IN_PLACE : in, out, count, type, op, root, comm);
        PMPI_Reduce(in_place ? MPI_IN_PLACE : in, expected, count, type, op, root, comm);
        wrong += memcmp(out, expected, room) != 0;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0, all, rank, ranks;
    MPI_Comm comms[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op_create(multiply, 0, &product);
    MPI_Type_contiguous(SIDE, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 0, -rank, &comms[1]);
    for (int which = 0; which < 2; which++) {
        int size = 0;
        if (comms[which] != MPI_COMM_NULL)
            MPI_Comm_size(comms[which], &size);
        for (int root = 0; root < size; root++)
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
                wrong += wrong_with(comms[which], root, lengths[i]);
    }
    PMPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf(all ? "%d wrong\n" : "right\n", all);
    if (comms[1] != MPI_COMM_NULL)
        MPI_Comm_free(&comms[1]);
    MPI_Type_free(&matrix);
    MPI_Op_free(&product);
    MPI_Finalize();
    return all != 0;
}
