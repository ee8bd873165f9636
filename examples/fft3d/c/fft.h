#pragma once
/* Complex Fourier transforms of one length, a power of two, many at a time. */
#include <complex.h>
#include <stdbool.h>

typedef struct {
    int length;
    double complex *roots; /* exp(-2 pi i k / length), k < length / 2 */
} Fft;

Fft fft_plan(int length);
void fft_free(Fft *fft);

/* Transforms `many` interleaved signals: element j of signal q is data[j * many + q]. `work` is as large as `data`.
   Without the factor 1/length for the inverse. */
void fft(const Fft *fft, int many, double complex *data, double complex *work, bool inverse);
