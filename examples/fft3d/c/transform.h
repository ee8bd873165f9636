#pragma once
/* The 3D transform of a divided grid: local transforms along one axis after the other, transposes between them. */
#include <complex.h>
#include <stddef.h>

#include "fft.h"
#include "grid.h"
#include "transpose.h"

typedef struct {
    const Grid *grid;
    Fft along[3];
    Buffers buffers;
} Transform;

Transform transform_plan(const Grid *grid);
void transform_free(Transform *transform);

/* From grid->real to grid->spectral, in place. */
void transform_forward(Transform *transform, double complex *field);

/* Back, with the factor 1/points. */
void transform_inverse(Transform *transform, double complex *field);

/* Transposes of one forward or one inverse transform. */
int transform_transposes(const Transform *transform);

/* Bytes from each rank to each other in one transpose: the largest of them. */
size_t transform_block_bytes(const Transform *transform);
