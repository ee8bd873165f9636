#pragma once
/* The grid and how it is divided. Slabs: whole xy planes, z divided over all ranks. Pencils: ranks in a rectangle of
   rows x columns; x is whole, y divided over the rows, z over the columns. */
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { X, Y, Z };

/* What one rank holds at one stage of the transform: for each place in memory (0 runs fastest) the axis, how many
   points of it are here, and the first one's coordinate. */
typedef struct {
    int axis[3], count[3], first[3];
} Layout;

typedef struct {
    int points[3];
    bool slabs;
    int rows, columns;
    int rank, ranks;
    MPI_Comm world, row_comm, column_comm; /* row_comm: the `rows` ranks that share a range of z; column_comm: of y */
    Layout real, spectral;
    size_t here; /* points on this rank, in every layout */
    size_t all;
} Grid;

/* Divides the grid over MPI_COMM_WORLD into `rows` x `columns` pencils, or slabs when `rows` is 0. Returns NULL, or why
   that is not possible: the same on every rank. */
const char *grid_create(Grid *grid, const int points[3], int rows, int columns);
void grid_free(Grid *grid);
