#pragma once
#include <complex.h>
#include <stddef.h>

/* Memory for `count` complex numbers; ends the program where there is none. */
double complex *points(size_t count);
