#include "combine.h"

#include <stddef.h>

/* The widest vectors of the processor the program runs on, whatever it was compiled for. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&                       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#else
#define CLONES
#endif

/* Equal pointers are allowed, and no reason not to vectorise: element i depends on elements i alone. */
#define LOOP(operation, element, type, expression)                                                                     \
    CLONES static void operation##_##element(const struct reduction *reduction, const void *left, const void *right,   \
                                             void *result, int64_t count)                                              \
    {                                                                                                                  \
        const type *lefts = left, *rights = right;                                                                     \
        type *results = result;                                                                                        \
        (void)reduction;                                                                                               \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < count; i++)                                                       \
        {                                                                                                              \
            const type l = lefts[i], r = rights[i];                                                                    \
            results[i] = (type)(expression);                                                                           \
        }                                                                                                              \
    }

#define NUMBERS(element, type, wide)                                                                                   \
    LOOP(SUM, element, type, (wide)l + (wide)r)                                                                        \
    LOOP(PROD, element, type, (wide)l *(wide)r)                                                                        \
    LOOP(MIN_LEFT, element, type, r < l ? r : l)                                                                       \
    LOOP(MAX_LEFT, element, type, r > l ? r : l)

#define INTEGERS(element, type, wide)                                                                                  \
    NUMBERS(element, type, wide)                                                                                       \
    LOOP(BAND, element, type, l &r)                                                                                    \
    LOOP(BOR, element, type, l | r)                                                                                    \
    LOOP(BXOR, element, type, l ^ r)                                                                                   \
    LOOP(LAND, element, type, l &&r)                                                                                   \
    LOOP(LOR, element, type, l || r)                                                                                   \
    LOOP(LXOR, element, type, !l != !r)

#define FLOATS(element, type)                                                                                          \
    NUMBERS(element, type, type)                                                                                       \
    LOOP(MIN_RIGHT, element, type, l < r ? l : r)                                                                      \
    LOOP(MAX_RIGHT, element, type, l > r ? l : r)

/* Unsigned within: what does not fit wraps around, as it does in the libraries. */
INTEGERS(INT8, int8_t, uint32_t)
INTEGERS(INT16, int16_t, uint32_t)
INTEGERS(INT32, int32_t, uint32_t)
INTEGERS(INT64, int64_t, uint64_t)
INTEGERS(UINT8, uint8_t, uint32_t)
INTEGERS(UINT16, uint16_t, uint32_t)
INTEGERS(UINT32, uint32_t, uint32_t)
INTEGERS(UINT64, uint64_t, uint64_t)
FLOATS(FLOAT, float)
FLOATS(DOUBLE, double)

#define ROW_NUMBERS(element)                                                                                           \
    [SUM][element] = SUM_##element, [PROD][element] = PROD_##element, [MIN_LEFT][element] = MIN_LEFT_##element,        \
    [MAX_LEFT][element] = MAX_LEFT_##element
#define ROW_INTEGERS(element)                                                                                          \
    ROW_NUMBERS(element), [MIN_RIGHT][element] = MIN_LEFT_##element, [MAX_RIGHT][element] = MAX_LEFT_##element,        \
                          [BAND][element] = BAND_##element, [BOR][element] = BOR_##element,                            \
                          [BXOR][element] = BXOR_##element, [LAND][element] = LAND_##element,                          \
                          [LOR][element] = LOR_##element, [LXOR][element] = LXOR_##element
#define ROW_FLOATS(element)                                                                                            \
    ROW_NUMBERS(element), [MIN_RIGHT][element] = MIN_RIGHT_##element, [MAX_RIGHT][element] = MAX_RIGHT_##element

static combine *const table[OPERATIONS][ELEMENTS] = {
    ROW_INTEGERS(INT8),   ROW_INTEGERS(INT16),  ROW_INTEGERS(INT32),  ROW_INTEGERS(INT64), ROW_INTEGERS(UINT8),
    ROW_INTEGERS(UINT16), ROW_INTEGERS(UINT32), ROW_INTEGERS(UINT64), ROW_FLOATS(FLOAT),   ROW_FLOATS(DOUBLE),
};

combine *combine_find(enum operation operation, enum element element)
{
    return table[operation][element];
}
