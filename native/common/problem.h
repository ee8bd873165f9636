/* What is wrong, as one sentence; empty while nothing is. The first one said is kept. */
#ifndef UNISONO_PROBLEM_H
#define UNISONO_PROBLEM_H

#include <stdbool.h>

enum { PROBLEM_BYTES = 256 };

struct problem {
    char text[PROBLEM_BYTES];
};

/* Says what is wrong unless something was said before. Always returns false, so that a check can end with it. */
bool problem_set(struct problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool problem_any(const struct problem *problem)
{
    return problem->text[0] != '\0';
}

#endif
