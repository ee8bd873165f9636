#pragma once
/* Transposes of a field [c][b][a] (a runs fastest, `a` x `b` x `c` points on this rank) over a communicator of P ranks:
   the first axis, whole on every rank before, is divided over the ranks; the one that becomes first is whole after. */
#include <complex.h>
#include <mpi.h>

typedef struct {
    double complex *send, *receive; /* each as large as the field on one rank */
} Buffers;

/* x goes behind y and z: [c][b][a] -> [a/P][c][b*P]. */
void transpose_x_yz(double complex *field, Buffers buffers, int a, int b, int c, MPI_Comm comm);

/* z goes before x and y, the other way round: [c][b][a] -> [b][a/P][c*P]. */
void transpose_xy_z(double complex *field, Buffers buffers, int a, int b, int c, MPI_Comm comm);
