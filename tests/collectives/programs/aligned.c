/* What functions of the program are given to combine is aligned as their C types are, and as malloc's memory at the least,
 * whatever algorithm serves and however many elements there are: quad precision, long double, vectors of AVX and AVX-512, three
 * doubles. Prints `right ALGORITHMS`. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "unisono.h"

enum { MOST = 3000, WIDEST = 64, RANKS = 8, LEAST = 16 };

typedef double four __attribute__((vector_size(32)));
typedef double eight __attribute__((vector_size(64)));
typedef struct {
    double of[3];
} three;

static long misaligned;
static size_t promised; /* what is expected of operands, bytes: the MPI library, where it serves, has malloc's memory */

/* Counted instead of crashed on: the compiler may use loads that do not mind. */
#define SUM(TYPE, ADD)                                                                                                 \
    static void sum_##TYPE(void *in, void *inout, int *count, MPI_Datatype *type)                                      \
    {                                                                                                                  \
        (void)type;                                                                                                    \
        misaligned += (uintptr_t)in % promised != 0 || (uintptr_t)inout % promised != 0;                               \
        for (int i = 0; i < *count; i++) {                                                                             \
            TYPE a, b;                                                                                                 \
            memcpy(&a, (char *)in + sizeof a * (size_t)i, sizeof a);                                                   \
            memcpy(&b, (char *)inout + sizeof b * (size_t)i, sizeof b);                                                \
            ADD;                                                                                                       \
            memcpy((char *)inout + sizeof a * (size_t)i, &a, sizeof a);                                                \
        }                                                                                                              \
    }
typedef __float128 quad;
typedef long double extended;
SUM(quad, a = a + b)
SUM(extended, a = a + b)
SUM(four, a = a + b)
SUM(eight, a = a + b)
SUM(three, for (int k = 0; k < 3; k++) a.of[k] += b.of[k])

static const struct {
    MPI_User_function *function;
    int doubles;
} kinds[] = {{sum_quad, 2}, {sum_extended, 2}, {sum_four, 4}, {sum_eight, 8}, {sum_three, 3}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void set_one(int kind, char *at)
{
    quad one = 1;
    extended another = 1;
    double many[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const void *from[] = {&one, &another, many, many, many};
    memcpy(at, from[kind], (size_t)kinds[kind].doubles * sizeof(double));
}

static int is_sum(int kind, const char *at, int sum)
{
    quad one;
    extended another;
    double many[8] = {0};
    memcpy(kind == 0   ? (void *)&one
           : kind == 1 ? (void *)&another
                       : many,
           at, (size_t)kinds[kind].doubles * sizeof(double));
    for (int k = 1; k < kinds[kind].doubles && kind > 1; k++)
        if (many[k] != sum)
            return 0;
    return kind == 0 ? one == sum : kind == 1 ? another == sum : many[0] == sum;
}

/* Of a reduce_scatter, blocks of one element more on ranks of odd numbers. */
static int block(const char *collective, int count, int rank)
{
    return strcmp(collective, "reduce_scatter") == 0 ? count + rank % 2 : count;
}

/* The message size. */
static long long bytes_of(const char *collective, int count, int element, int ranks)
{
    long long all = 0;
    for (int i = 0; i < ranks; i++)
        all += block(collective, count, i);
    return (strcmp(collective, "reduce_scatter") == 0 ? all : count) * (long long)element;
}

/* Sums of ones of the kind; whether they are right. */
static int sums(int kind, const char *collective, int count, int commutes, int rank, int ranks)
{
    static _Alignas(WIDEST) char send[(MOST + 1) * RANKS * WIDEST], receive[(MOST + 1) * WIDEST];
    MPI_Datatype type;
    MPI_Op op;
    size_t bytes = (size_t)kinds[kind].doubles * sizeof(double);
    int good = 1, root = ranks - 1, sum = ranks, gets = block(collective, count, rank), counts[RANKS];
    for (int i = 0; i < (count + 1) * ranks; i++)
        set_one(kind, send + bytes * (size_t)i);
    for (int i = 0; i < ranks; i++)
        counts[i] = block(collective, count, i);
    MPI_Type_contiguous(kinds[kind].doubles, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(kinds[kind].function, commutes, &op);
    if (strcmp(collective, "reduce") == 0) {
        MPI_Reduce(send, receive, count, type, op, root, MPI_COMM_WORLD);
        gets = rank == root ? gets : 0;
    } else if (strcmp(collective, "allreduce") == 0) {
        MPI_Allreduce(send, receive, count, type, op, MPI_COMM_WORLD);
    } else if (strcmp(collective, "scan") == 0) {
        MPI_Scan(send, receive, count, type, op, MPI_COMM_WORLD);
        sum = rank + 1;
    } else if (strcmp(collective, "exscan") == 0) {
        MPI_Exscan(send, receive, count, type, op, MPI_COMM_WORLD);
        sum = rank;
        gets = rank > 0 ? gets : 0;
    } else if (strcmp(collective, "reduce_scatter_block") == 0) {
        MPI_Reduce_scatter_block(send, receive, count, type, op, MPI_COMM_WORLD);
    } else {
        MPI_Reduce_scatter(send, receive, counts, type, op, MPI_COMM_WORLD);
    }
    for (int i = 0; i < gets; i++)
        good = good && is_sum(kind, receive + bytes * (size_t)i, sum);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    return good;
}

int main(int argc, char **argv)
{
    enum { COUNTS = 8 };
    static const int counts[COUNTS] = {1, 2, 3, 7, 8, 64, 513, MOST};
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
        if (one.collective[0] == 'i') /* nonblocking: operations of the program are the MPI library's */
            continue;
        if ((strstr(one.collective, "reduce") == NULL && strstr(one.collective, "scan") == NULL) || !one.applies ||
            use(MPI_COMM_WORLD, one.collective, word) != 0)
            continue;
        tried++;
        for (int i = 0; i < KINDS * COUNTS * 2; i++) {
            int kind = i / 2 / COUNTS, count = counts[i / 2 % COUNTS], commutes = i % 2;
            int bytes = kinds[kind].doubles * (int)sizeof(double), natural = bytes & -bytes;
            long long size = bytes_of(one.collective, count, bytes, ranks);
            bool ours = commutes && applies(MPI_COMM_WORLD, one.collective, size, bytes);
            /* The MPI library lays elements one after the other in malloc's memory. */
            promised = (size_t)(ours ? (natural > LEAST ? natural : LEAST) : (natural < LEAST ? natural : LEAST));
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
