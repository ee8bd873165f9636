/* What random calls have in common: buffers, counts, words. */
#ifndef UNISONO_TEST_BUFFERS_H
#define UNISONO_TEST_BUFFERS_H

#include "calls.h"
#include "data.h"

enum { SLACK = 512, RANKS_MOST = 1024 };

/* The call under test. */
#if MPI_VERSION >= 4
#define TESTED(name, ...) (trial->large ? MPI_##name##_c(__VA_ARGS__) : MPI_##name(__VA_ARGS__))
#else
#define TESTED(name, ...) MPI_##name(__VA_ARGS__)
#endif

/* Two equal buffers with room around them, one for each way. */
struct pair {
    char *memory[2];
    size_t bytes;
    int shift; /* from where malloc's memory, or better, begins */
};

struct pair make(struct random *random, size_t bytes);
/* The same, at any address: what is sent and received need not be aligned. */
struct pair make_anywhere(struct trial *trial, size_t bytes);
char *inside(const struct pair *pair, int way);
bool same(const struct pair *pair);
void discard(struct pair *pair);

void say(struct trial *trial, const char *format, ...);
/* Mostly few, sometimes none, one, or as many as are allowed. */
int draw_count(struct trial *trial);
/* Bytes that so many units take, wherever their data lie about their beginning. */
size_t span(const struct layout_way *way, int64_t units);

bool try_alltoallw(struct trial *trial);

#endif
