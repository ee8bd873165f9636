#include "transpose.h"

#include <stddef.h>
#include <string.h>

enum { TILE = 16 };

/* out[column][row] = in[row][column] for a part of a matrix, by tiles that stay in the cache. `in_row` and `out_row`:
   points from one row to the next. */
static void transpose2_local(const double complex *in, size_t in_row, double complex *out, size_t out_row, size_t rows,
                             size_t columns)
{
    for (size_t row = 0; row < rows; row += TILE) {
        size_t row_end = row + TILE < rows ? row + TILE : rows;
        for (size_t column = 0; column < columns; column += TILE) {
            size_t column_end = column + TILE < columns ? column + TILE : columns;
            for (size_t i = row; i < row_end; i++)
                for (size_t j = column; j < column_end; j++)
                    out[j * out_row + i] = in[i * in_row + j];
        }
    }
}

/* All communication of the transposes: `block` points to every rank. */
static void transpose2_global(Buffers buffers, size_t block, MPI_Comm comm)
{
    MPI_Alltoall(buffers.send, (int)block, MPI_C_DOUBLE_COMPLEX, buffers.receive, (int)block, MPI_C_DOUBLE_COMPLEX,
                 comm);
}

/* field[row][rank][i] = received[rank][row][i]: the pieces of every row, side by side. */
static void transpose2_finish(double complex *field, const double complex *received, size_t ranks, size_t rows,
                              size_t run)
{
    for (size_t rank = 0; rank < ranks; rank++)
        for (size_t row = 0; row < rows; row++)
            memcpy(field + (row * ranks + rank) * run, received + (rank * rows + row) * run, run * sizeof *field);
}

static size_t size_of(MPI_Comm comm)
{
    int size;
    MPI_Comm_size(comm, &size);
    return (size_t)size;
}

void transpose_x_yz(double complex *field, Buffers buffers, int a, int b, int c, MPI_Comm comm)
{
    size_t ranks = size_of(comm), part = (size_t)a / ranks, block = part * (size_t)b * (size_t)c;
    for (size_t rank = 0; rank < ranks; rank++)
        for (size_t plane = 0; plane < (size_t)c; plane++)
            transpose2_local(field + plane * (size_t)b * (size_t)a + rank * part, (size_t)a,
                             buffers.send + rank * block + plane * (size_t)b, (size_t)c * (size_t)b, (size_t)b, part);
    transpose2_global(buffers, block, comm);
    transpose2_finish(field, buffers.receive, ranks, part * (size_t)c, (size_t)b);
}

void transpose_xy_z(double complex *field, Buffers buffers, int a, int b, int c, MPI_Comm comm)
{
    size_t ranks = size_of(comm), part = (size_t)a / ranks, block = part * (size_t)b * (size_t)c;
    for (size_t rank = 0; rank < ranks; rank++)
        for (size_t line = 0; line < (size_t)b; line++)
            transpose2_local(field + line * (size_t)a + rank * part, (size_t)b * (size_t)a,
                             buffers.send + rank * block + line * part * (size_t)c, (size_t)c, (size_t)c, part);
    transpose2_global(buffers, block, comm);
    transpose2_finish(field, buffers.receive, ranks, (size_t)b * part, (size_t)c);
}
