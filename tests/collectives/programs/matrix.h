/* Products of 2 x 2 matrices of whole numbers, which do not commute. */
#ifndef UNISONO_TESTS_MATRIX_H
#define UNISONO_TESTS_MATRIX_H

#include <string.h>

#include <mpi.h>

enum { SIDE = 4, MODULUS = 10007 };

/* An MPI_User_function. */
static void multiply(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int *a = in, *b = inout, c[SIDE];
    (void)type;
    for (int k = 0; k < *count; k++, a += SIDE, b += SIDE) {
        for (int i = 0; i < SIDE; i++)
            c[i] = (a[i / 2 * 2] * b[i % 2] + a[i / 2 * 2 + 1] * b[i % 2 + 2]) % MODULUS;
        memcpy(b, c, sizeof c);
    }
}

#endif
