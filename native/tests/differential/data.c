#include "data.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad; /* which is quad precision on arm64 */
#endif

static MPI_Op add_mod, multiply_matrices, add_quads, add_doubles;
static MPI_Datatype matrix, with_gap, with_lower, quad_type, four, eight;
static _Thread_local int promised = 16;
static _Thread_local bool broken;

void data_promise(int bytes)
{
    promised = bytes <= 16 && getenv("DIFFERENTIAL_MISALIGNED") != NULL ? 1 : bytes;
    broken = false;
}

bool data_kept_promise(void)
{
    return !broken;
}

static void look(const void *in, const void *inout)
{
    broken = broken || (uintptr_t)in % (uintptr_t)promised != 0 || (uintptr_t)inout % (uintptr_t)promised != 0;
}

static void add_anywhere(const void *in, void *inout)
{
    quad a, b;
    memcpy(&a, in, sizeof a);
    memcpy(&b, inout, sizeof b);
    b = a + b;
    memcpy(inout, &b, sizeof b);
}

/* As the compiler adds them: with instructions that fault where memory is not aligned, unless nothing was promised. */
static void add_quad(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    look(in, inout);
    const quad *a = in;
    quad *b = inout;
    for (int i = 0; i < *count; i++)
        if (promised == 1)
            add_anywhere(a + i, b + i);
        else
            b[i] = a[i] + b[i];
}

/* Vectors of 4 or 8 doubles, whose loads fault too where the compiler may use AVX; here their addresses are looked at. */
static void add_vector(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Count bytes;
    look(in, inout);
    PMPI_Type_size_x(*type, &bytes);
    const double *a = in;
    double *b = inout;
    for (MPI_Count i = 0; i < *count * (bytes / (MPI_Count)sizeof(double)); i++)
        b[i] = a[i] + b[i];
}

enum { SIDE = 4, MODULUS = 10007 };

/* Commutative; on any type made of ints that follow one another. */
static void add_ints(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Count bytes, low, extent;
    PMPI_Type_size_x(*type, &bytes);
    PMPI_Type_get_extent_x(*type, &low, &extent);
    for (int k = 0; k < *count; k++) {
        const int *a = (const int *)(const void *)((char *)in + k * extent);
        int *b = (int *)(void *)((char *)inout + k * extent);
        for (MPI_Count i = 0; i < bytes / (MPI_Count)sizeof(int); i++)
            b[i] = (a[i] + b[i]) % MODULUS;
    }
}

/* Associative, not commutative: 2 x 2 matrices. */
static void multiply(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Count low, extent;
    PMPI_Type_get_extent_x(*type, &low, &extent);
    for (int k = 0; k < *count; k++) {
        const int *a = (const int *)(const void *)((char *)in + k * extent);
        int *b = (int *)(void *)((char *)inout + k * extent), c[SIDE];
        for (int i = 0; i < SIDE; i++)
            c[i] = (a[i / 2 * 2] * b[i % 2] + a[i / 2 * 2 + 1] * b[i % 2 + 2]) % MODULUS;
        memcpy(b, c, sizeof c);
    }
}

void data_start(void)
{
    MPI_Datatype ints;
    PMPI_Op_create(add_quad, 1, &add_quads);
    PMPI_Op_create(add_vector, 1, &add_doubles);
    PMPI_Type_contiguous(sizeof(quad), MPI_BYTE, &quad_type);
    PMPI_Type_contiguous(4, MPI_DOUBLE, &four);
    PMPI_Type_contiguous(8, MPI_DOUBLE, &eight);
    PMPI_Type_commit(&quad_type);
    PMPI_Type_commit(&four);
    PMPI_Type_commit(&eight);
    PMPI_Op_create(add_ints, 1, &add_mod);
    PMPI_Op_create(multiply, 0, &multiply_matrices);
    PMPI_Type_contiguous(SIDE, MPI_INT, &matrix);
    PMPI_Type_commit(&matrix);
    PMPI_Type_contiguous(SIDE, MPI_INT, &ints);
    PMPI_Type_create_resized(ints, 0, (SIDE + 2) * sizeof(int), &with_gap);
    PMPI_Type_commit(&with_gap);
    PMPI_Type_create_resized(ints, -2 * (MPI_Aint)sizeof(int), (SIDE + 2) * sizeof(int), &with_lower);
    PMPI_Type_commit(&with_lower);
    PMPI_Type_free(&ints);
}

void data_end(void)
{
    PMPI_Op_free(&add_mod);
    PMPI_Op_free(&multiply_matrices);
    PMPI_Type_free(&matrix);
    PMPI_Type_free(&with_gap);
    PMPI_Type_free(&with_lower);
    PMPI_Op_free(&add_quads);
    PMPI_Op_free(&add_doubles);
    PMPI_Type_free(&quad_type);
    PMPI_Type_free(&four);
    PMPI_Type_free(&eight);
}

struct combination data_combination(struct random *random, bool own, int ranks)
{
#define EACH(op, most, least, kind, bytes, type) {#op " of " #type, op, type, kind, bytes, most, least, false}
#define OWN(op, most, kind, bytes, type) {#op " of " #type, op, type, kind, bytes, most, 0, true}
#define INTEGERS(op, most, least)                                                                                      \
    EACH(op, most, least, 'i', 4, MPI_INT), EACH(op, most, least, 'i', 8, MPI_LONG),                                   \
        EACH(op, most, least, 'i', 2, MPI_SHORT), EACH(op, most, least, 'i', 1, MPI_SIGNED_CHAR),                      \
        EACH(op, most, least, 'i', 1, MPI_UINT8_T), EACH(op, most, least, 'i', 2, MPI_UNSIGNED_SHORT),                 \
        EACH(op, most, least, 'i', 4, MPI_UNSIGNED), EACH(op, most, least, 'i', 8, MPI_UINT64_T),                      \
        EACH(op, most, least, 'i', 8, MPI_LONG_LONG), EACH(op, most, least, 'i', 4, MPI_INT32_T)
#define ADDRESSES(op, most, least)                                                                                     \
    EACH(op, most, least, 'i', sizeof(MPI_Aint), MPI_AINT), EACH(op, most, least, 'i', sizeof(MPI_Count), MPI_COUNT)
#define REALS(op, most, least)                                                                                         \
    EACH(op, most, least, 'f', 4, MPI_FLOAT), EACH(op, most, least, 'd', 8, MPI_DOUBLE),                               \
        EACH(op, most, least, 'L', sizeof(long double), MPI_LONG_DOUBLE), EACH(op, most, least, 'd', 8, MPI_REAL8)
#define COMPLEX(op, most, least)                                                                                       \
    EACH(op, most, least, 'f', 8, MPI_C_FLOAT_COMPLEX), EACH(op, most, least, 'd', 16, MPI_C_DOUBLE_COMPLEX)
    /* Sums of single bytes stay below 128: in vectors Open MPI 5 sums signed chars with saturation, behind them without. */
    const struct combination all[] = {INTEGERS(MPI_SUM, 15, 0),
                                      ADDRESSES(MPI_SUM, 1000, 0),
                                      REALS(MPI_SUM, 1000, 0),
                                      COMPLEX(MPI_SUM, 1000, 0),
                                      INTEGERS(MPI_PROD, 2, 1),
                                      REALS(MPI_PROD, 2, 1),
                                      COMPLEX(MPI_PROD, 2, 0),
                                      INTEGERS(MPI_MAX, 100, 0),
                                      REALS(MPI_MAX, 5, 0),
                                      INTEGERS(MPI_MIN, 100, 0),
                                      REALS(MPI_MIN, 5, 0),
                                      INTEGERS(MPI_BAND, 127, 0),
                                      INTEGERS(MPI_BOR, 127, 0),
                                      INTEGERS(MPI_BXOR, 127, 0),
                                      INTEGERS(MPI_LAND, 1, 0),
                                      INTEGERS(MPI_LOR, 1, 0),
                                      INTEGERS(MPI_LXOR, 1, 0),
                                      ADDRESSES(MPI_BXOR, 127, 0),
                                      EACH(MPI_BXOR, 127, 0, 'i', 1, MPI_BYTE),
                                      EACH(MPI_LAND, 1, 0, 'i', 1, MPI_C_BOOL),
                                      EACH(MPI_MAXLOC, 3, 0, 'p', 8, MPI_2INT),
                                      EACH(MPI_MINLOC, 3, 0, 'p', 8, MPI_2INT),
                                      EACH(MPI_MAXLOC, 3, 0, 'g', 8, MPI_FLOAT_INT),
                                      EACH(MPI_MINLOC, 3, 0, 'h', 16, MPI_DOUBLE_INT),
                                      OWN(add_mod, 1000, 'u', 4, MPI_INT),
                                      OWN(add_mod, 1000, 'u', 16, matrix),
                                      OWN(multiply_matrices, 90, 'u', 16, matrix),
                                      OWN(multiply_matrices, 90, 'u', 24, with_gap),
                                      OWN(multiply_matrices, 90, 'u', 16, matrix),
                                      OWN(multiply_matrices, 90, 'u', 24, with_lower),
                                      OWN(add_mod, 1000, 'u', 24, with_gap),
                                      OWN(add_quads, 1000, 'q', sizeof(quad), quad_type),
                                      OWN(add_quads, 1000, 'q', sizeof(quad), quad_type),
                                      OWN(add_quads, 1000, 'q', sizeof(quad), quad_type),
                                      OWN(add_doubles, 1000, 'v', 32, four),
                                      OWN(add_doubles, 1000, 'v', 64, eight),
                                      OWN(add_doubles, 1000, 'v', 64, eight)};
    enum { ALL = sizeof all / sizeof *all, OWNS = 13 };
    struct combination drawn =
        all[random_one_in(random, 4) || own ? ALL - OWNS + random_below(random, OWNS) : random_below(random, ALL)];
    if (drawn.op == MPI_SUM && drawn.bytes == 1 && drawn.most > 127 / ranks)
        drawn.most = 127 / ranks;
    if (drawn.op == MPI_PROD && ranks > 30) /* no product leaves what a number holds */
        drawn.most = 1;
    return drawn;
}

static void put_integer(void *at, int bytes, int64_t value)
{
    memcpy(at, &value, (size_t)bytes); /* little-endian */
}

void data_fill_numbers(struct random *random, const struct combination *combination, void *buffer, size_t count)
{
    char *at = buffer;
    int bytes = combination->bytes;
    for (size_t i = 0; i < count; i++, at += bytes) {
        uint64_t draw = random_next(random);
        int value = combination->least + (int)((draw >> 8) % (uint64_t)(combination->most - combination->least + 1));
        int other = combination->least + (int)((draw >> 36) % (uint64_t)(combination->most - combination->least + 1));
        memset(at, 0, (size_t)bytes);
        switch (combination->kind) {
        case 'i': put_integer(at, bytes, value); break;
        case 'f':
            *(float *)(void *)at = (float)value;
            if (bytes == 8)
                ((float *)(void *)at)[1] = (float)other;
            break;
        case 'd':
            *(double *)(void *)at = value;
            if (bytes == 16)
                ((double *)(void *)at)[1] = other;
            break;
        case 'L': *(long double *)(void *)at = value; break;
        case 'g':
            *(float *)(void *)at = (float)value;
            ((int *)(void *)at)[1] = other;
            break;
        case 'h':
            *(double *)(void *)at = value;
            ((int *)(void *)at)[2] = other;
            break;
        case 'q': *(quad *)(void *)at = value; break;
        case 'v':
            for (int k = 0; k < bytes / (int)sizeof(double); k++)
                ((double *)(void *)at)[k] = (double)((draw >> 8 * k) % (uint64_t)(combination->most + 1));
            break;
        case 'p': ((int *)(void *)at)[0] = value, ((int *)(void *)at)[1] = other; break;
        default:
            for (int k = 0; k < bytes / (int)sizeof(int); k++)
                ((int *)(void *)at)[k] = (int)((draw >> 8 * k) % (uint64_t)(combination->most + 1));
        }
    }
}

/* Bytes of an element that MPI defines. */
static int data_valid(const struct combination *combination)
{
    switch (combination->kind) {
    case 'L': return 10; /* of x86 */
    case 'h': return 12;
    case 'u': return combination->bytes < 16 ? combination->bytes : 16;
    default: return combination->bytes;
    }
}

bool data_same(const struct combination *combination, const void *a, const void *b, size_t count)
{
    const char *x = a, *y = b;
    size_t step = (size_t)combination->bytes, valid = (size_t)data_valid(combination);
    for (size_t i = 0; i < count; i++, x += step, y += step) {
        if (memcmp(x, y, valid) == 0)
            continue;
        /* 0 and -0 are the same number. */
        for (size_t k = 0; combination->kind == 'f' && k < valid / sizeof(float); k++)
            if (((const float *)(const void *)x)[k] != ((const float *)(const void *)y)[k])
                return false;
        for (size_t k = 0; combination->kind == 'd' && k < valid / sizeof(double); k++)
            if (((const double *)(const void *)x)[k] != ((const double *)(const void *)y)[k])
                return false;
        if (combination->kind != 'f' && combination->kind != 'd')
            return false;
    }
    return true;
}

void data_fill_bytes(struct random *random, void *buffer, size_t bytes)
{
    char *at = buffer;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t draw = random_next(random);
        memcpy(at + i, &draw, bytes - i < 8 ? bytes - i : 8);
    }
}
