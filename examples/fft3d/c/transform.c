#include "transform.h"

#include <stdlib.h>

#include "memory.h"

Transform transform_plan(const Grid *grid)
{
    Transform transform = {.grid = grid, .buffers = {points(grid->here), points(grid->here)}};
    for (int axis = X; axis <= Z; axis++)
        transform.along[axis] = fft_plan(grid->points[axis]);
    return transform;
}

void transform_free(Transform *transform)
{
    for (int axis = X; axis <= Z; axis++)
        fft_free(&transform->along[axis]);
    free(transform->buffers.send);
    free(transform->buffers.receive);
}

int transform_transposes(const Transform *transform)
{
    return transform->grid->slabs ? 1 : 2;
}

size_t transform_block_bytes(const Transform *transform)
{
    const Grid *grid = transform->grid;
    int fewest = grid->ranks;
    if (!grid->slabs && grid->rows > 1 && grid->columns > 1)
        fewest = grid->rows < grid->columns ? grid->rows : grid->columns;
    return grid->here / (size_t)fewest * sizeof(double complex);
}

/* `signals` signals of `fft->length` points, one after the other, each of `many` interleaved. */
static void each(Transform *transform, const Fft *along, int many, double complex *field, bool inverse)
{
    size_t points = (size_t)along->length * (size_t)many;
    for (size_t start = 0; start < transform->grid->here; start += points)
        fft(along, many, field + start, transform->buffers.send, inverse);
}

static void forward_slabs(Transform *transform, double complex *field)
{
    const Grid *grid = transform->grid;
    each(transform, &transform->along[X], 1, field, false);
    each(transform, &transform->along[Y], grid->points[X], field, false);
    transpose_xy_z(field, transform->buffers, grid->points[X] * grid->points[Y], 1, grid->real.count[2], grid->world);
    each(transform, &transform->along[Z], 1, field, false);
}

static void inverse_slabs(Transform *transform, double complex *field)
{
    const Grid *grid = transform->grid;
    each(transform, &transform->along[Z], 1, field, true);
    transpose_x_yz(field, transform->buffers, grid->points[Z], grid->points[X] * grid->spectral.count[2], 1,
                   grid->world);
    each(transform, &transform->along[Y], grid->points[X], field, true);
    each(transform, &transform->along[X], 1, field, true);
}

/* x, y/rows, z/columns -> z, x/columns, y/rows -> y, z/rows, x/columns */
static void forward_pencils(Transform *transform, double complex *field)
{
    const Grid *grid = transform->grid;
    int x = grid->points[X], z = grid->points[Z], rows = grid->rows, columns = grid->columns;
    each(transform, &transform->along[X], 1, field, false);
    transpose_xy_z(field, transform->buffers, x, grid->points[Y] / rows, z / columns, grid->column_comm);
    each(transform, &transform->along[Z], 1, field, false);
    transpose_xy_z(field, transform->buffers, z, x / columns, grid->points[Y] / rows, grid->row_comm);
    each(transform, &transform->along[Y], 1, field, false);
}

static void inverse_pencils(Transform *transform, double complex *field)
{
    const Grid *grid = transform->grid;
    int x = grid->points[X], z = grid->points[Z], rows = grid->rows, columns = grid->columns;
    each(transform, &transform->along[Y], 1, field, true);
    transpose_x_yz(field, transform->buffers, grid->points[Y], z / rows, x / columns, grid->row_comm);
    each(transform, &transform->along[Z], 1, field, true);
    transpose_x_yz(field, transform->buffers, z, x / columns, grid->points[Y] / rows, grid->column_comm);
    each(transform, &transform->along[X], 1, field, true);
}

void transform_forward(Transform *transform, double complex *field)
{
    if (transform->grid->slabs)
        forward_slabs(transform, field);
    else
        forward_pencils(transform, field);
}

void transform_inverse(Transform *transform, double complex *field)
{
    if (transform->grid->slabs)
        inverse_slabs(transform, field);
    else
        inverse_pencils(transform, field);
    const double scale = 1.0 / (double)transform->grid->all;
    for (size_t i = 0; i < transform->grid->here; i++)
        field[i] *= scale;
}
