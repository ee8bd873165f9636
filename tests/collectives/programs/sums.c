/* Reductions whose result depends on the order in which elements are combined. Prints what each gave, as a number made of its
 * bytes, so that two launches can be compared.
 *
 *     sums [NUMBERS] [reversed] [fold]
 *
 * NUMBERS: ranks from this one on contribute zeros. reversed: ranks contribute each other's numbers, the last one rank 0's.
 * fold: with what should come, ((a0 op a1) op a2) op ..., which is worked out on rank 0; status 1 where it did not. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { LONG = 20000 };

struct gap {
    char one;
    double value; /* seven bytes further on */
};

static int rank, ranks, numbers, reversed, fold, wrong;
static MPI_Datatype gap_type;
static MPI_Op affine, add_gaps;

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
    x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return x ^ x >> 33;
}

/* Of very different sizes, so that what is rounded off depends on the order. */
static double number_of(int who, int64_t i)
{
    uint64_t bits = mixed(UINT64_C(1000003) * (uint64_t)(i + 1) + (uint64_t)who);
    double scale = (double)(UINT64_C(1) << bits % 40), value = (double)(bits >> 11) / 9007199254740992.0 - 0.5;
    return who < numbers ? value * scale : 0;
}

/* x -> a x + b, one after the other: not commutative. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    double *left = in, *right = inout;
    (void)type;
    for (int i = 0; i < *length; i++, left += 2, right += 2) {
        double a = left[0] * right[0], b = left[1] * right[0] + right[1];
        right[0] = a;
        right[1] = b;
    }
}

static void add_values(void *in, void *inout, int *length, MPI_Datatype *type)
{
    struct gap *left = in, *right = inout;
    (void)type;
    for (int i = 0; i < *length; i++)
        right[i].value += left[i].value;
}

enum kind { DOUBLES, FLOATS, COMPLEXES, LONG_DOUBLES, PRODUCTS, LOCATIONS, AFFINES, GAPS, KINDS };
static const char *const names[KINDS] = {"double",  "float",    "complex", "long-double",
                                         "product", "location", "affine",  "gap"};

static struct what {
    MPI_Datatype type;
    MPI_Op op;
    size_t size;
} what[KINDS];

static void fill(enum kind kind, void *to, int who, int64_t count)
{
    struct {
        double value;
        int where;
    } *location = to;
    memset(to, 0, (size_t)count * what[kind].size);
    for (int64_t i = 0; i < count; i++) {
        double value = number_of(reversed ? ranks - 1 - who : who, i);
        if (kind == DOUBLES || kind == PRODUCTS)
            ((double *)to)[i] = kind == PRODUCTS ? 1 + value * 1e-12 : value;
        else if (kind == FLOATS)
            ((float *)to)[i] = (float)value;
        else if (kind == COMPLEXES)
            ((double *)to)[2 * i] = value, ((double *)to)[2 * i + 1] = -3 * value;
        else if (kind == LONG_DOUBLES)
            ((long double *)to)[i] = value;
        else if (kind == LOCATIONS)
            location[i].value = value, location[i].where = who;
        else if (kind == AFFINES)
            ((double *)to)[2 * i] = 1 + value * 1e-12, ((double *)to)[2 * i + 1] = value;
        else
            ((struct gap *)to)[i] = (struct gap){.one = 1, .value = value};
    }
}

/* The bytes of long doubles and structures that say nothing are left out. */
static uint64_t digest(enum kind kind, const unsigned char *data, int64_t count)
{
    uint64_t made = 7;
    for (int64_t i = 0; i < count; i++, data += what[kind].size) {
        size_t first = kind == GAPS ? offsetof(struct gap, value) : 0;
        size_t end = kind == LONG_DOUBLES ? 10 : kind == LOCATIONS ? 12 : what[kind].size;
        for (size_t at = first; at < end; at++)
            made = (made ^ data[at]) * UINT64_C(0x100000001b3);
    }
    return made;
}

/* What should come of a vector. */
static unsigned char *folded(enum kind kind, int64_t count)
{
    unsigned char *left = malloc((size_t)count * what[kind].size + 64),
                  *right = malloc((size_t)count * what[kind].size + 64);
    fill(kind, left, 0, count);
    for (int who = 1; who < ranks; who++) {
        fill(kind, right, who, count);
        MPI_Reduce_local(left, right, (int)count, what[kind].type, what[kind].op);
        unsigned char *other = left;
        left = right;
        right = other;
    }
    free(right);
    return left;
}

/* The same vector, a longer block for the last ranks: every rank sees its own. All ranks' digests as one. */
static uint64_t scattered(enum kind kind, int64_t count, int in_place, int even)
{
    int *counts = malloc((size_t)ranks * sizeof *counts), mine = 0;
    int64_t total = 0;
    unsigned char *send = malloc((size_t)(count + ranks) * what[kind].size * 2), *receive = send;
    for (int i = 0; i < ranks; i++) {
        counts[i] = even ? (int)(count / ranks) : (int)(count / ranks) + (i > ranks / 2);
        mine = i == rank ? counts[i] : mine;
        total += counts[i];
    }
    fill(kind, send, rank, total);
    if (!in_place)
        receive += (size_t)(count + ranks) * what[kind].size;
    if (even)
        MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : send, receive, mine, what[kind].type, what[kind].op,
                                 MPI_COMM_WORLD);
    else
        MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : send, receive, counts, what[kind].type, what[kind].op,
                           MPI_COMM_WORLD);
    uint64_t made = digest(kind, receive, mine), *all = malloc((size_t)ranks * sizeof *all), expected = 7;
    MPI_Gather(&made, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0 && fold) {
        unsigned char *whole = folded(kind, total), *at = whole;
        for (int i = 0; i < ranks; at += (size_t)counts[i++] * what[kind].size)
            wrong = wrong || digest(kind, at, counts[i]) != all[i];
        free(whole);
    }
    for (int i = 0; i < ranks && rank == 0; i++)
        expected = (expected ^ all[i]) * UINT64_C(0x100000001b3);
    free(counts);
    free(send);
    free(all);
    return expected;
}

static void try(enum kind kind, int64_t count)
{
    size_t bytes = (size_t)count * what[kind].size;
    unsigned char *send = malloc(bytes), *receive = malloc(bytes);
    uint64_t made[8];
    for (int way = 0; way < 4; way++) {
        int root = way < 2 ? 0 : ranks - 1;
        fill(kind, send, rank, count);
        fill(kind, receive, rank, count);
        /* MPICH 4.0.2 ends in its own reduce in place at other roots than 0. */
        const void *from = way % 2 == 1 && (way < 2 || (fold && rank == root)) ? MPI_IN_PLACE : send;
        if (way < 2)
            MPI_Allreduce(from, receive, (int)count, what[kind].type, what[kind].op, MPI_COMM_WORLD);
        else
            MPI_Reduce(from, receive, (int)count, what[kind].type, what[kind].op, root, MPI_COMM_WORLD);
        made[way] = digest(kind, receive, count);
        MPI_Bcast(&made[way], 1, MPI_UINT64_T, root, MPI_COMM_WORLD);
        wrong = wrong || (way < 2 && digest(kind, receive, count) != made[way]);
    }
    for (int way = 4; way < 8; way++)
        made[way] = scattered(kind, count, way % 2, way < 6);
    if (rank == 0) {
        unsigned char *whole = folded(kind, count);
        uint64_t expected = digest(kind, whole, count);
        wrong =
            wrong || (fold && (expected != made[0] || made[0] != made[1] || made[0] != made[2] || made[0] != made[3]));
        free(whole);
        printf("%s %" PRId64, names[kind], count);
        for (int way = 0; way < 8; way++)
            printf(" %016" PRIx64, made[way]);
        printf("\n");
    }
    free(send);
    free(receive);
}

int main(int argc, char **argv)
{
    const int64_t counts[] = {1, 700, LONG};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    numbers = ranks;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "reversed") == 0)
            reversed = 1;
        else if (strcmp(argv[i], "fold") == 0)
            fold = 1;
        else
            numbers = atoi(argv[i]);
    }
    int one = 1, length[] = {1, 1};
    MPI_Datatype pair, types[] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Aint at[] = {0, offsetof(struct gap, value)};
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_create_struct(2, length, at, types, &gap_type);
    MPI_Type_commit(&gap_type);
    MPI_Op_create(compose, 0, &affine);
    MPI_Op_create(add_values, one, &add_gaps);
    what[DOUBLES] = (struct what){MPI_DOUBLE, MPI_SUM, sizeof(double)};
    what[FLOATS] = (struct what){MPI_FLOAT, MPI_SUM, sizeof(float)};
    what[COMPLEXES] = (struct what){MPI_C_DOUBLE_COMPLEX, MPI_SUM, 2 * sizeof(double)};
    what[LONG_DOUBLES] = (struct what){MPI_LONG_DOUBLE, MPI_SUM, sizeof(long double)};
    what[PRODUCTS] = (struct what){MPI_DOUBLE, MPI_PROD, sizeof(double)};
    what[LOCATIONS] = (struct what){MPI_DOUBLE_INT, MPI_MAXLOC, 16};
    what[AFFINES] = (struct what){pair, affine, 2 * sizeof(double)};
    what[GAPS] = (struct what){gap_type, add_gaps, sizeof(struct gap)};
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            try((enum kind)kind, counts[i]);
    MPI_Op_free(&affine);
    MPI_Op_free(&add_gaps);
    MPI_Type_free(&gap_type);
    MPI_Type_free(&pair);
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
