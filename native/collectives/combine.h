/* Loops that combine elements: result[i] = left[i] op right[i]. */
#ifndef UNISONO_COLL_COMBINE_H
#define UNISONO_COLL_COMBINE_H

#include <stdbool.h>
#include <stdint.h>

enum element { INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT, DOUBLE, ELEMENTS };
/* The least and greatest of floating-point numbers, twice: LEFT keeps the left one unless the right one is less
 * (greater), as the ternary of most libraries does, RIGHT the other way round. They differ in NaN and signed zeros. */
enum operation { SUM, PROD, MIN_LEFT, MAX_LEFT, MIN_RIGHT, MAX_RIGHT, BAND, BOR, BXOR, LAND, LOR, LXOR, OPERATIONS };

struct reduction;
typedef void combine(const struct reduction *reduction, const void *left, const void *right, void *result,
                     int64_t count);

/* NULL: there is no such loop (bitwise, logical of floating point). */
combine *combine_find(enum operation operation, enum element element);

#endif
