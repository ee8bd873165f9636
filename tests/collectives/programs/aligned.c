/* What functions of the program are given to combine is aligned as their C types are, whatever algorithm serves and
 * however many elements there are: quad precision, long double, vectors of AVX and AVX-512. Prints `right ALGORITHMS`. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "unisono.h"

enum { MOST = 3000, WIDEST = 64 };

typedef double four __attribute__((vector_size(32)));
typedef double eight __attribute__((vector_size(64)));

static long misaligned;
static size_t promised; /* what is expected of operands, bytes: the MPI library, where it serves, has malloc's memory */

/* Counted instead of crashed on: the compiler may use loads that do not mind. */
#define SUM(TYPE)                                                                                                      \
    static void sum_##TYPE(void *in, void *inout, int *count, MPI_Datatype *type)                                      \
    {                                                                                                                  \
        (void)type;                                                                                                    \
        misaligned += (uintptr_t)in % promised != 0 || (uintptr_t)inout % promised != 0;                               \
        for (int i = 0; i < *count; i++) {                                                                             \
            TYPE a, b;                                                                                                 \
            memcpy(&a, (char *)in + sizeof a * (size_t)i, sizeof a);                                                   \
            memcpy(&b, (char *)inout + sizeof b * (size_t)i, sizeof b);                                                \
            a = a + b;                                                                                                 \
            memcpy((char *)inout + sizeof a * (size_t)i, &a, sizeof a);                                                \
        }                                                                                                              \
    }
typedef __float128 quad;
typedef long double extended;
SUM(quad)
SUM(extended)
SUM(four)
SUM(eight)

static const struct {
    MPI_User_function *function;
    int doubles;
} kinds[] = {{sum_quad, 2}, {sum_extended, 2}, {sum_four, 4}, {sum_eight, 8}};

/* Sums of ones of the kind; whether they are right. */
static int sums(int kind, const char *collective, int count, int commutes, int rank, int ranks)
{
    static _Alignas(WIDEST) char send[MOST * WIDEST], receive[MOST * WIDEST];
    MPI_Datatype type;
    MPI_Op op;
    size_t bytes = (size_t)kinds[kind].doubles * sizeof(double);
    int good = 1, root = ranks - 1, doubles = kinds[kind].doubles;
    for (int i = 0; i < count; i++) {
        quad one = 1;
        extended another = 1;
        four few = {1, 1, 1, 1};
        eight many = {1, 1, 1, 1, 1, 1, 1, 1};
        const void *from[] = {&one, &another, &few, &many};
        memcpy(send + bytes * (size_t)i, from[kind], bytes);
    }
    MPI_Type_contiguous(doubles, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(kinds[kind].function, commutes, &op);
    if (strcmp(collective, "reduce") == 0)
        MPI_Reduce(send, receive, count, type, op, root, MPI_COMM_WORLD);
    else
        MPI_Allreduce(send, receive, count, type, op, MPI_COMM_WORLD);
    for (int i = 0; i < count && (rank == root || strcmp(collective, "reduce") != 0); i++) {
        quad one;
        extended another;
        double plain;
        memcpy(&one, receive + bytes * (size_t)i, sizeof one);
        memcpy(&another, receive + bytes * (size_t)i, sizeof another);
        memcpy(&plain, receive + bytes * (size_t)i, sizeof plain);
        good = good && (kind == 0 ? one == ranks : kind == 1 ? another == ranks : plain == ranks);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    return good;
}

int main(int argc, char **argv)
{
    enum { COUNTS = 11 };
    static const int counts[COUNTS] = {1, 2, 3, 5, 7, 8, 13, 64, 100, 513, MOST};
    int rank, ranks, good = 1, tried = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int (*algorithm)(MPI_Comm, int, struct unisono_algorithm *);
    int (*use)(MPI_Comm, const char *, const char *), (*applies)(MPI_Comm, const char *, long long, int);
    *(void **)&algorithm = dlsym(RTLD_DEFAULT, "unisono_algorithm");
    *(void **)&use = dlsym(RTLD_DEFAULT, "unisono_use");
    *(void **)&applies = dlsym(RTLD_DEFAULT, "unisono_applies");
    if (algorithm == NULL || use == NULL || applies == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    struct unisono_algorithm one;
    for (int index = 0; algorithm(MPI_COMM_WORLD, index, &one) == 0; index++) {
        char word[100];
        snprintf(word, sizeof word, "unisono/%s", one.name);
        if (strstr(one.collective, "reduce") == NULL || !one.applies || use(MPI_COMM_WORLD, one.collective, word) != 0)
            continue;
        tried++;
        for (int i = 0; i < 4 * COUNTS * 2; i++) {
            int kind = i / 2 / COUNTS, count = counts[i / 2 % COUNTS], commutes = i % 2;
            int bytes = kinds[kind].doubles * (int)sizeof(double);
            bool ours = commutes && applies(MPI_COMM_WORLD, one.collective, (long long)count * bytes, bytes);
            promised = ours ? (size_t)bytes : 16;
            if (sums(kind, one.collective, count, commutes, rank, ranks))
                continue;
            printf("rank %d: wrong: %s of %d elements of kind %d by %s\n", rank, one.collective, count, kind, one.name);
            good = 0;
        }
        if (misaligned > 0)
            printf("rank %d: %s by %s: %ld operands are not aligned\n", rank, one.collective, one.name, misaligned);
        good = good && misaligned == 0;
        misaligned = 0;
    }
    int all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        printf(all ? "right %d\n" : "wrong %d\n", tried);
    MPI_Finalize();
    return all ? 0 : 1;
}
