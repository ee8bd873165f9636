/* Coordinates that Fugaku's MPI tells, by a stand-in for its header and functions, on one rank and without MPI. */
#include <mpi.h>
#include <string.h>

#include "check.h"

static int alone(int *rank)
{
    *rank = 0;
    return MPI_SUCCESS;
}

static int keep(const void *send, void *receive, int count)
{
    memcpy(receive, send, (size_t)count * sizeof(int));
    return MPI_SUCCESS;
}

#define PMPI_Comm_rank(comm, rank) alone(rank)
#define PMPI_Allreduce(send, receive, count, type, op, comm) keep(send, receive, count)
#include "../collectives/inquiry.c"

int FJMPI_Topology_get_dimension(int *dimensions);
int FJMPI_Topology_get_shape(int *x, int *y, int *z);
int FJMPI_Topology_get_coords(MPI_Comm comm, int rank, int view, int most, int *coordinates);

int FJMPI_Topology_get_dimension(int *dimensions)
{
    *dimensions = 2;
    return 0;
}

int FJMPI_Topology_get_shape(int *x, int *y, int *z)
{
    *x = 4, *y = 6, *z = -1; /* nothing is said of a third */
    return 0;
}

int FJMPI_Topology_get_coords(MPI_Comm comm, int rank, int view, int most, int *coordinates)
{
    CHECK(comm == MPI_COMM_WORLD && rank == 0 && view == FJMPI_LOGICAL && most == 2);
    coordinates[0] = 3, coordinates[1] = 5;
    return 0;
}

int main(void)
{
    struct torus machine = {0};
    const char *teller = NULL;
    int place = 0;
    CHECK(inquiry_start(&machine, &place, &teller) == MPI_SUCCESS);
    CHECK(machine.dimensions == 2 && machine.extent[0] == 4 && machine.extent[1] == 6 && machine.wraps[1]);
    CHECK(place == 3 + 4 * 5 && teller != NULL);
    return verdict();
}
