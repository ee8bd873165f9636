/* Operations, their datatypes and contents of buffers for the differential test. */
#ifndef UNISONO_TEST_DATA_H
#define UNISONO_TEST_DATA_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "random.h"

/* Of reductions: an operation, a type it is for, and what its elements are. */
struct combination {
    const char *name;
    MPI_Op op;
    MPI_Datatype type;
    char kind; /* i integers; f, d, L real and complex numbers; p, g, h pairs; u any number of ints;
                   q __float128; v vectors of doubles */
    int bytes; /* of an element, with what lies between it and the next */
    int most;  /* numbers are 0 .. most, or 1 .. most where `least` is 1 */
    int least;
    bool function; /* the operation is the program's */
};
void data_start(void);
void data_end(void);
/* On so many ranks. `own`: with an operation of the program; else with any. */
struct combination data_combination(struct random *random, bool own, int ranks);
/* Whole numbers, so that every order of adding gives the same. */
void data_fill_numbers(struct random *random, const struct combination *combination, void *buffer, size_t count);
/* Whether what MPI defines of the elements is the same. */
bool data_same(const struct combination *combination, const void *a, const void *b, size_t count);
/* Of the calls that this thread makes from now on: what operands of quad sums and vectors are aligned to, at least. Nothing is
 * promised of the MPI library's where DIFFERENTIAL_MISALIGNED is in the environment. */
void data_promise(int bytes);
/* Whether all were since then. */
bool data_kept_promise(void);
void data_fill_bytes(struct random *random, void *buffer, size_t bytes);

#endif
