/* The smallest test framework: CHECK says what failed and where; the program's status says whether anything did. */
#ifndef UNISONO_CHECK_TEST_H
#define UNISONO_CHECK_TEST_H

#include <stdio.h>

static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

static inline int verdict(void)
{
    return failures != 0;
}

#endif
