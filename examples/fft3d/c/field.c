#include "field.h"

#include <math.h>
#include <stdint.h>

enum { CHECKED = 61 };

/* Coordinates and position in memory of one point of a layout. */
typedef struct {
    int at[3];
    size_t index;
} Point;

/* The first point is point_begin; point_next is false after the last. */
static Point point_begin(const Layout *layout)
{
    Point point = {.index = 0};
    for (int i = 0; i < 3; i++)
        point.at[layout->axis[i]] = layout->first[i];
    return point;
}

static bool point_next(const Layout *layout, Point *point)
{
    point->index++;
    for (int i = 0; i < 3; i++) {
        int *at = &point->at[layout->axis[i]];
        if (++*at < layout->first[i] + layout->count[i])
            return true;
        *at = layout->first[i];
    }
    return false;
}

static uint64_t number_of(const Grid *grid, const Point *point)
{
    uint64_t row = (uint64_t)point->at[Z] * (uint64_t)grid->points[Y] + (uint64_t)point->at[Y];
    return row * (uint64_t)grid->points[X] + (uint64_t)point->at[X];
}

/* A few steps of x -> x^2 + c modulo a prime: even enough here, and the same in Fortran, which has no unsigned numbers.
 */
static double noise(uint64_t seed)
{
    const uint64_t prime = 2147483647;
    uint64_t x = (seed + 1) % prime;
    for (uint64_t i = 1; i <= 4; i++)
        x = (x * x + seed % prime + 12345 * i) % prime;
    return (double)x / (double)prime;
}

void field_noise(const Grid *grid, double complex *field)
{
    Point point = point_begin(&grid->real);
    do {
        uint64_t number = number_of(grid, &point);
        field[point.index] = CMPLX(noise(2 * number), noise(2 * number + 1));
    } while (point_next(&grid->real, &point));
}

void field_wave(const Grid *grid, const int wave[3], double complex *field)
{
    const double pi = acos(-1.0);
    Point point = point_begin(&grid->real);
    do {
        double phase = 0;
        for (int i = 0; i < 3; i++)
            phase += (double)wave[i] * point.at[i] / grid->points[i];
        field[point.index] = CMPLX(cos(2 * pi * phase), sin(2 * pi * phase));
    } while (point_next(&grid->real, &point));
}

void field_decay(const Grid *grid, double diffusivity, double *decay)
{
    const double pi = acos(-1.0);
    Point point = point_begin(&grid->spectral);
    do {
        double square = 0;
        for (int i = 0; i < 3; i++) {
            int wave = point.at[i] < grid->points[i] / 2 ? point.at[i] : point.at[i] - grid->points[i];
            square += (double)wave * wave;
        }
        decay[point.index] = exp(-4 * pi * pi * diffusivity * square);
    } while (point_next(&grid->spectral, &point));
}

void field_evolve(const Grid *grid, double complex *spectrum, const double *decay, double complex *field)
{
    for (size_t i = 0; i < grid->here; i++)
        field[i] = spectrum[i] *= decay[i];
}

double complex field_checksum(const Grid *grid, const double complex *field)
{
    double complex here = 0, all = 0;
    Point point = point_begin(&grid->real);
    do {
        if (number_of(grid, &point) % CHECKED == 0)
            here += field[point.index];
    } while (point_next(&grid->real, &point));
    MPI_Reduce(&here, &all, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, 0, grid->world);
    return all;
}

double field_distance(const Grid *grid, const double complex *a, double factor, const double complex *b)
{
    double here = 0, all = 0;
    for (size_t i = 0; i < grid->here; i++)
        here = fmax(here, cabs(a[i] - factor * b[i]));
    MPI_Allreduce(&here, &all, 1, MPI_DOUBLE, MPI_MAX, grid->world);
    return all;
}
