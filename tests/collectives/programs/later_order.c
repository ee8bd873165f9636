/* MPI_Iallreduce and MPI_Ireduce with an operation whose order matters: maps x -> a x + b, one after the other. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "maps.h"

enum { COUNT = 3000 };

int main(int argc, char **argv)
{
    static struct map mine[COUNT], all[COUNT], right[COUNT];
    MPI_Datatype type;
    MPI_Request request;
    MPI_Op op;
    int rank, ranks, count = 0, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(follow, 0, &op);
    maps_of(rank, mine, COUNT);
    maps_in_order(ranks, right, COUNT);
    MPI_Iallreduce(mine, all, COUNT, type, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong += memcmp(all, right, sizeof all) != 0;
    memset(all, 0, sizeof all);
    MPI_Ireduce(mine, all, COUNT, type, op, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong += rank == 0 && memcmp(all, right, sizeof all) != 0;
    MPI_Iallreduce(&rank, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong += count != ranks * (ranks - 1) / 2;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(wrong ? "wrong" : "right");
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Finalize();
    return wrong != 0;
}
