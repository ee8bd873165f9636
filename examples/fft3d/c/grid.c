#include "grid.h"

static Layout layout(const int points[3], const int axis[3], const int parts[3], const int place[3])
{
    Layout layout;
    for (int i = 0; i < 3; i++) {
        layout.axis[i] = axis[i];
        layout.count[i] = points[axis[i]] / parts[i];
        layout.first[i] = place[i] * layout.count[i];
    }
    return layout;
}

static bool power_of_two(int number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

static const char *impossible(const Grid *grid)
{
    for (int i = 0; i < 3; i++)
        if (!power_of_two(grid->points[i]))
            return "the grid's points along each axis must be a power of two";
    if (grid->slabs && (grid->points[Y] % grid->ranks != 0 || grid->points[Z] % grid->ranks != 0))
        return "slabs need a number of ranks that divides the grid along y and z; try a smaller one, or pencils";
    if (!grid->slabs && grid->rows * grid->columns != grid->ranks)
        return "the pencils' rows x columns are not the number of ranks";
    if (!grid->slabs && (grid->points[Y] % grid->rows != 0 || grid->points[Z] % grid->rows != 0))
        return "the pencils' rows must divide the grid along y and z";
    if (!grid->slabs && (grid->points[X] % grid->columns != 0 || grid->points[Z] % grid->columns != 0))
        return "the pencils' columns must divide the grid along x and z";
    return NULL;
}

const char *grid_create(Grid *grid, const int points[3], int rows, int columns)
{
    *grid = (Grid){.slabs = rows == 0, .rows = rows, .columns = columns, .world = MPI_COMM_WORLD};
    grid->row_comm = grid->column_comm = MPI_COMM_NULL;
    grid->all = 1;
    for (int i = 0; i < 3; i++) {
        grid->points[i] = points[i];
        grid->all *= (size_t)points[i];
    }
    MPI_Comm_rank(grid->world, &grid->rank);
    MPI_Comm_size(grid->world, &grid->ranks);
    const char *reason = impossible(grid);
    if (reason != NULL)
        return reason;
    grid->here = grid->all / (size_t)grid->ranks;

    const int real[3] = {X, Y, Z};
    if (grid->slabs) {
        const int spectral[3] = {Z, X, Y}, parts[3] = {1, 1, grid->ranks}, place[3] = {0, 0, grid->rank};
        grid->real = layout(points, real, parts, place);
        grid->spectral = layout(points, spectral, parts, place);
    } else {
        const int spectral[3] = {Y, Z, X}, parts[3] = {1, rows, columns};
        const int place[3] = {0, grid->rank % rows, grid->rank / rows};
        MPI_Comm_split(grid->world, place[2], grid->rank, &grid->row_comm);
        MPI_Comm_split(grid->world, place[1], grid->rank, &grid->column_comm);
        grid->real = layout(points, real, parts, place);
        grid->spectral = layout(points, spectral, parts, place);
    }
    return NULL;
}

void grid_free(Grid *grid)
{
    if (grid->row_comm != MPI_COMM_NULL)
        MPI_Comm_free(&grid->row_comm);
    if (grid->column_comm != MPI_COMM_NULL)
        MPI_Comm_free(&grid->column_comm);
}
