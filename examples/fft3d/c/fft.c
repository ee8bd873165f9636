/* Stockham's autosort algorithm, radix 2: after each pass the results are already in order, so there is no bit
   reversal. C. Van Loan, Computational Frameworks for the Fast Fourier Transform, SIAM 1992, section 1.7. */
#include "fft.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

Fft fft_plan(int length)
{
    const double pi = acos(-1.0);
    Fft fft = {length, points(length > 1 ? (size_t)length / 2 : 1)};
    for (int k = 0; k < length / 2; k++)
        fft.roots[k] = CMPLX(cos(2 * pi * k / length), -sin(2 * pi * k / length));
    return fft;
}

void fft_free(Fft *fft)
{
    free(fft->roots);
    fft->roots = NULL;
}

/* Without the checks for infinities that C asks of `*`: they take longer than the product. */
static double complex product(double complex a, double complex b)
{
    return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}

void fft(const Fft *fft, int many, double complex *data, double complex *work, bool inverse)
{
    double complex *from = data, *to = work;
    size_t stride = (size_t)many;
    for (int half = fft->length / 2, step = 1; half >= 1; half /= 2, step *= 2, stride *= 2) {
        for (int p = 0; p < half; p++) {
            double complex root = inverse ? conj(fft->roots[p * step]) : fft->roots[p * step];
            const double complex *a = from + stride * (size_t)p;
            const double complex *b = from + stride * (size_t)(p + half);
            double complex *sum = to + stride * (size_t)(2 * p);
            double complex *difference = sum + stride;
            for (size_t q = 0; q < stride; q++) {
                double complex x = a[q], y = b[q];
                sum[q] = x + y;
                difference[q] = product(x - y, root);
            }
        }
        double complex *swap = from;
        from = to;
        to = swap;
    }
    if (from != data)
        memcpy(data, from, (size_t)fft->length * (size_t)many * sizeof *data);
}
