/* Pseudo-random numbers that are the same on all ranks for the same seed (SplitMix64: Steele, Lea, Flood, OOPSLA 2014). */
#ifndef UNISONO_TEST_RANDOM_H
#define UNISONO_TEST_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline struct random random_of(uint64_t a, uint64_t b, uint64_t c)
{
    struct random random = {a};
    random.state = random_next(&random) ^ b * UINT64_C(0x2545f4914f6cdd1d);
    random.state = random_next(&random) ^ c * UINT64_C(0xda942042e4dd58b5);
    return random;
}

/* 0 .. limit - 1 */
static inline int random_below(struct random *random, int limit)
{
    return (int)(random_next(random) % (uint64_t)limit);
}

static inline int random_one_in(struct random *random, int n)
{
    return random_below(random, n) == 0;
}

#endif
