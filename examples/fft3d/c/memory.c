#include "memory.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

double complex *points(size_t count)
{
    double complex *memory = malloc(count * sizeof *memory);
    if (memory == NULL) {
        fprintf(stderr, "fft3d: no memory for %zu complex numbers\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}
