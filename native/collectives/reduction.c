#include "reduction.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "combine.h"
#include "exact.h"

/* A piece of an operand that is not aligned well enough is copied to such a place on the stack. */
enum { PIECE = REDUCTION_ELEMENT_MOST, ALIGNMENT = 64, LEAST_ALIGNMENT = 16 };

struct place {
    _Alignas(ALIGNMENT) char bytes[PIECE];
};

/* What an operation may rely on. A program's function knows its operands by a C type, whose alignment divides its size:
 * __float128 and vectors of AVX fault where they are not aligned so. Whoever counts in bytes gets what malloc gives. */
static uintptr_t alignment_of(int64_t element)
{
    uintptr_t natural = (uintptr_t)(element & -element);
    return natural > ALIGNMENT ? ALIGNMENT : natural < LEAST_ALIGNMENT ? LEAST_ALIGNMENT : natural;
}

static bool is_aligned(const void *memory, uintptr_t alignment)
{
    return (uintptr_t)memory % alignment == 0;
}

/* For operations of the program, and those of MPI that we have no loop for. The library combines into the right operand,
 * which is one of ours unless the result may lie there. Lines of shared memory are not aligned as the program's memory is. */
static void combine_by_library(const struct reduction *reduction, const void *left, const void *right, void *result,
                               int64_t count)
{
    struct place left_place, result_place;
    const int64_t element = reduction->element;
    const uintptr_t alignment = alignment_of(element);
    /* Elements whose size is no multiple of it: so many of them are, and pieces begin as well aligned as what they are of. */
    const int64_t natural = element & -element, unit = natural < (int64_t)alignment ? (int64_t)alignment / natural : 1;
    const int64_t most = PIECE / element, each = most > unit ? most / unit * unit : most;
    const bool direct = is_aligned(result, alignment) && (result != left || right == left) &&
                        (each % unit == 0 || is_aligned(left, alignment));
    if (direct && result != right)
        memcpy(result, right, (size_t)(count * element));
    for (int64_t done = 0, piece; done < count; done += piece) {
        const char *from = (const char *)left + done * element, *other = (const char *)right + done * element;
        char *to = (char *)result + done * element;
        /* In place the piece may be as long as a count can say. */
        const bool whole = direct && is_aligned(from, alignment);
        piece = whole && count - done < INT_MAX ? count - done : whole ? INT_MAX - INT_MAX % LEAST_ALIGNMENT : each;
        piece = piece < count - done ? piece : count - done;
        const size_t bytes = (size_t)(piece * element);
        if (!is_aligned(from, alignment))
            from = memcpy(left_place.bytes, from, bytes);
        if (!direct)
            memcpy(result_place.bytes, other, bytes);
        PMPI_Reduce_local(from, direct ? to : result_place.bytes, (int)piece, reduction->type, reduction->op);
        if (!direct)
            memcpy(to, result_place.bytes, bytes);
    }
}

static enum element of_integer(int64_t bytes, bool is_signed)
{
    enum element first = is_signed ? INT8 : UINT8;
    return bytes == 1 ? first : bytes == 2 ? first + 1 : bytes == 4 ? first + 2 : bytes == 8 ? first + 3 : ELEMENTS;
}

static enum element of_real(int64_t bytes)
{
    return bytes == 4 ? FLOAT : bytes == 8 ? DOUBLE : ELEMENTS;
}

/* ELEMENTS: not one of those we have loops for. MPI_CHAR and MPI_BYTE are no numbers to MPI. */
static enum element element_of(MPI_Datatype type, int64_t bytes)
{
    if (type == MPI_DOUBLE || type == MPI_FLOAT)
        return of_real(bytes);
    if (type == MPI_INT || type == MPI_LONG || type == MPI_LONG_LONG || type == MPI_INT64_T || type == MPI_INT32_T ||
        type == MPI_SHORT || type == MPI_SIGNED_CHAR || type == MPI_INT8_T || type == MPI_INT16_T || type == MPI_AINT ||
        type == MPI_OFFSET || type == MPI_COUNT)
        return of_integer(bytes, true);
    if (type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG || type == MPI_UINT64_T ||
        type == MPI_UINT32_T || type == MPI_UNSIGNED_SHORT || type == MPI_UNSIGNED_CHAR || type == MPI_UINT8_T ||
        type == MPI_UINT16_T)
        return of_integer(bytes, false);
    if (type == MPI_REAL || type == MPI_DOUBLE_PRECISION || type == MPI_REAL4 || type == MPI_REAL8)
        return of_real(bytes);
    return type == MPI_INTEGER || type == MPI_INTEGER4 || type == MPI_INTEGER8 ? of_integer(bytes, true) : ELEMENTS;
}

/* Whether the library keeps the left one of two numbers that do not compare; it need not treat all counts alike, and
   then it is asked itself. */
static enum operation ordered(MPI_Op op, enum operation left, enum operation right)
{
    enum { COUNT = 67 };
    double in[COUNT], out[COUNT];
    bool keeps_left = true, keeps_right = true;
    for (int i = 0; i < COUNT; i++)
        in[i] = i % 3 == 0 ? (double)NAN : i % 3 == 1 ? 1 : 0.0, out[i] = i % 3 == 1 ? (double)NAN : i % 3 ? -0.0 : 1;
    PMPI_Reduce_local(in, out, COUNT, MPI_DOUBLE, op);
    for (int i = 0; i < COUNT; i++) {
        bool is_left = i % 3 == 0 ? isnan(out[i]) : i % 3 == 1 ? out[i] == 1 : !signbit(out[i]);
        keeps_left = keeps_left && is_left;
        keeps_right = keeps_right && !is_left;
    }
    return keeps_left ? left : keeps_right ? right : OPERATIONS;
}

/* The same, found out once; -1 before. Two threads may both find it out: it is equal. */
static enum operation once(int *known, MPI_Op op, enum operation left, enum operation right)
{
    int found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (found < 0) {
        found = (int)ordered(op, left, right);
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return (enum operation)found;
}

/* OPERATIONS: none of ours. */
static enum operation operation_of(MPI_Op op, enum element element)
{
    static int least = -1, greatest = -1;
    bool is_real = element == FLOAT || element == DOUBLE;
    if (op == MPI_SUM)
        return SUM;
    if (op == MPI_MAX && is_real)
        return once(&greatest, op, MAX_LEFT, MAX_RIGHT);
    if (op == MPI_MIN && is_real)
        return once(&least, op, MIN_LEFT, MIN_RIGHT);
    return op == MPI_MAX    ? MAX_LEFT
           : op == MPI_MIN  ? MIN_LEFT
           : op == MPI_PROD ? PROD
           : op == MPI_BAND ? BAND
           : op == MPI_BOR  ? BOR
           : op == MPI_BXOR ? BXOR
           : op == MPI_LAND ? LAND
           : op == MPI_LOR  ? LOR
           : op == MPI_LXOR ? LXOR
                            : OPERATIONS;
}

bool reduction_set(struct reduction *reduction, MPI_Datatype type, MPI_Op op)
{
    int bytes, commutes = 0;
    MPI_Aint low, extent;
    *reduction = (struct reduction){.op = op, .type = type, .combine = combine_by_library};
    if (PMPI_Type_size(type, &bytes) != MPI_SUCCESS || PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS ||
        low != 0 || extent != bytes || bytes <= 0 || bytes > REDUCTION_ELEMENT_MOST ||
        PMPI_Type_get_true_extent(type, &low, &extent) != MPI_SUCCESS || low != 0 || extent != bytes ||
        PMPI_Op_commutative(op, &commutes) != MPI_SUCCESS)
        return false;
    reduction->element = bytes;
    reduction->commutative = commutes;
    enum element element = element_of(type, bytes);
    enum operation operation = element < ELEMENTS ? operation_of(op, element) : OPERATIONS;
    combine *combine = operation < OPERATIONS ? combine_find(operation, element) : NULL;
    if (combine != NULL)
        reduction->combine = combine;
    return true;
}

/* How many doubles (floats) an element is; 0: it is none. */
static int64_t reals_of(MPI_Datatype type, int64_t element, int64_t real)
{
    if (element_of(type, element) == of_real(real) && element == real)
        return 1;
    const MPI_Datatype complexes[] = {MPI_C_FLOAT_COMPLEX,    MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
                                      MPI_CXX_DOUBLE_COMPLEX, MPI_COMPLEX,          MPI_DOUBLE_COMPLEX,
                                      MPI_COMPLEX8,           MPI_COMPLEX16};
    for (size_t i = 0; i < sizeof complexes / sizeof *complexes; i++)
        if (type == complexes[i] && type != MPI_DATATYPE_NULL)
            return element == 2 * real ? 2 : 0;
    return 0;
}

void reduction_keep(struct reduction *reduction, enum reduction_order order)
{
    reduction->order = order;
    reduction->sum = NULL;
    if (order != ORDER_EXACT || reduction->op != MPI_SUM)
        return;
    int64_t doubles = reals_of(reduction->type, reduction->element, sizeof(double));
    int64_t floats = reals_of(reduction->type, reduction->element, sizeof(float));
    reduction->parts = doubles > 0 ? doubles : floats;
    reduction->sum = doubles > 0 ? exact_sum_double : floats > 0 ? exact_sum_float : NULL;
}

void reduction_fold(const struct reduction *reduction, const void *const *of, int vectors, void *result, int64_t count)
{
    const void *left = of[0];
    if (reduction->sum != NULL) {
        reduction->sum(of, vectors, result, count * reduction->parts);
        return;
    }
    if (vectors == 1 && result != left)
        memcpy(result, left, (size_t)(count * reduction->element));
    for (int i = 1; i < vectors; i++, left = result)
        reduction->combine(reduction, left, of[i], result, count);
}
