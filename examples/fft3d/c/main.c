/* A 3D fast Fourier transform over all ranks, and a heat equation that is solved with it: the communication of a
   spectral code. Each time step is one evolution of the spectrum, one inverse transform, one checksum. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "field.h"
#include "grid.h"
#include "memory.h"
#include "options.h"
#include "transform.h"

enum { SUCCESS, WRONG, USAGE };

/* MPI_Pcontrol means nothing to MPI itself. Unisono takes (3, name) as the begin of a phase and (3, "") as its end. */
enum { PHASE = 3 };

static const double diffusivity = 1e-5, tolerance = 1e-12;

typedef struct {
    double complex *field, *spectrum, *expected;
    double *decay;
} Memory;

static Memory memory_for(const Grid *grid)
{
    Memory memory = {points(grid->here), points(grid->here), points(grid->here), malloc(grid->here * sizeof(double))};
    if (memory.decay == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

static void memory_free(Memory *memory)
{
    free(memory->field);
    free(memory->spectrum);
    free(memory->expected);
    free(memory->decay);
}

/* Noise must come back from forward and inverse transform, and a plane wave must decay as the equation's solution says:
   the larger error of the two. */
static double check(const Grid *grid, Transform *transform, Memory *memory)
{
    field_noise(grid, memory->field);
    field_noise(grid, memory->expected);
    transform_forward(transform, memory->field);
    transform_inverse(transform, memory->field);
    double round_trip = field_distance(grid, memory->field, 1, memory->expected);

    const double pi = acos(-1.0);
    int wave[3];
    double square = 0;
    for (int i = 0; i < 3; i++) {
        wave[i] = i + 1 < grid->points[i] / 2 ? i + 1 : 0;
        square += (double)wave[i] * wave[i];
    }
    field_wave(grid, wave, memory->expected);
    field_wave(grid, wave, memory->spectrum);
    transform_forward(transform, memory->spectrum);
    field_evolve(grid, memory->spectrum, memory->decay, memory->field);
    transform_inverse(transform, memory->field);
    double factor = exp(-4 * pi * pi * diffusivity * square);
    return fmax(round_trip, field_distance(grid, memory->field, factor, memory->expected));
}

/* Seconds of the slowest rank; right on rank 0. */
static double time_steps(const Grid *grid, Transform *transform, Memory *memory, int steps)
{
    field_noise(grid, memory->spectrum);
    MPI_Barrier(grid->world);
    double start = MPI_Wtime();
    transform_forward(transform, memory->spectrum);
    for (int step = 1; step <= steps; step++) {
        field_evolve(grid, memory->spectrum, memory->decay, memory->field);
        transform_inverse(transform, memory->field);
        double complex sum = field_checksum(grid, memory->field);
        if (grid->rank == 0)
            printf(" step %4d  checksum %22.12e %22.12e\n", step, creal(sum), cimag(sum));
    }
    double here = MPI_Wtime() - start, slowest = 0;
    MPI_Reduce(&here, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, grid->world);
    return slowest;
}

static void describe(const Grid *grid, const Transform *transform, const Options *options)
{
    printf("fft3d: %d x %d x %d points, %d steps, %d ranks, ", grid->points[X], grid->points[Y], grid->points[Z],
           options->steps, grid->ranks);
    if (grid->slabs)
        printf("slabs\n");
    else
        printf("%d x %d pencils\n", grid->rows, grid->columns);
    int transforms = 2 * 2 + 1 + options->steps;
    printf(" %d transposes, up to %zu bytes from each rank to each other\n",
           transforms * transform_transposes(transform), transform_block_bytes(transform));
}

static int run(const Options *options)
{
    Grid grid;
    int rows = options->rows, columns = options->columns, size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rows < 0) {
        int sides[2] = {0, 0};
        MPI_Dims_create(size, 2, sides);
        rows = sides[1];
        columns = sides[0];
    }
    const char *reason = grid_create(&grid, options->points, rows, columns);
    if (reason != NULL) {
        if (grid.rank == 0)
            fprintf(stderr, "fft3d: %s\n", reason);
        return USAGE;
    }
    Transform transform = transform_plan(&grid);
    Memory memory = memory_for(&grid);
    if (grid.rank == 0)
        describe(&grid, &transform, options);
    field_decay(&grid, diffusivity, memory.decay);

    MPI_Pcontrol(PHASE, "check");
    double error = check(&grid, &transform, &memory);
    MPI_Pcontrol(PHASE, "");
    MPI_Pcontrol(PHASE, "time steps");
    double seconds = time_steps(&grid, &transform, &memory, options->steps);
    MPI_Pcontrol(PHASE, "");

    bool right = error < tolerance;
    if (grid.rank == 0)
        printf(" Verification = %s, largest error %.1e\n Time in seconds = %12.6f\n", right ? "SUCCESSFUL" : "FAILED",
               error, seconds);
    memory_free(&memory);
    transform_free(&transform);
    grid_free(&grid);
    return right ? SUCCESS : WRONG;
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    Options options;
    const char *reason = options_parse(&options, count, words);
    int status = USAGE, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (reason == NULL)
        status = run(&options);
    else if (rank == 0)
        fprintf(stderr, "fft3d: %s\n%s", reason, options_usage);
    MPI_Finalize();
    return status;
}
