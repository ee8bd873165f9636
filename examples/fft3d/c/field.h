#pragma once
/* Fields on a divided grid. Every value depends on the point's coordinates only, so that all divisions agree. */
#include <complex.h>

#include "grid.h"

/* Noise between 0 and 1. */
void field_noise(const Grid *grid, double complex *field);

/* exp(2 pi i wave . x) */
void field_wave(const Grid *grid, const int wave[3], double complex *field);

/* For every point of the spectrum what the heat equation u_t = diffusivity * laplacian(u) on the unit cube leaves of it
   after one unit of time. */
void field_decay(const Grid *grid, double diffusivity, double *decay);

/* spectrum *= decay; field = spectrum. */
void field_evolve(const Grid *grid, double complex *spectrum, const double *decay, double complex *field);

/* The sum over every 61st point of the grid; right on rank 0. */
double complex field_checksum(const Grid *grid, const double complex *field);

/* The largest |a - factor * b| of all ranks; right on every rank. */
double field_distance(const Grid *grid, const double complex *a, double factor, const double complex *b);
