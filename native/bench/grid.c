#include "grid.h"

#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = GRID_NEIGHBOURS / 2 };

static int keyval = MPI_KEYVAL_INVALID;

bool grid_is_for(const char *collective)
{
    collective += collective[0] == 'i'; /* nonblocking */
    return strncmp(collective, "neighbor_", strlen("neighbor_")) == 0;
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    MPI_Comm *grid = value;
    int error = MPI_Comm_free(grid);
    free(grid);
    return error;
}

MPI_Comm grid_of(MPI_Comm comm)
{
    const int open[DIMENSIONS] = {0};
    int parts[DIMENSIONS] = {0}, ranks, found;
    MPI_Comm *grid;
    if (keyval == MPI_KEYVAL_INVALID)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
    MPI_Comm_get_attr(comm, keyval, &grid, &found);
    if (found)
        return *grid;
    grid = malloc(sizeof *grid);
    if (grid == NULL)
        MPI_Abort(comm, EXIT_FAILURE);
    MPI_Comm_size(comm, &ranks);
    MPI_Dims_create(ranks, DIMENSIONS, parts);
    MPI_Cart_create(comm, DIMENSIONS, parts, open, 0, grid);
    MPI_Comm_set_attr(comm, keyval, grid);
    return *grid;
}

void grid_neighbours(int rank, int ranks, int around[GRID_NEIGHBOURS])
{
    int parts[DIMENSIONS] = {0}, step = 1;
    MPI_Dims_create(ranks, DIMENSIONS, parts);
    for (int dimension = DIMENSIONS - 1; dimension >= 0; dimension--) { /* the last one runs fastest */
        int place = rank / step % parts[dimension];
        around[2 * dimension] = place > 0 ? rank - step : -1;
        around[2 * dimension + 1] = place + 1 < parts[dimension] ? rank + step : -1;
        step *= parts[dimension];
    }
}
