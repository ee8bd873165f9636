/* The data that is sent, so that every element of a result can be checked: it depends on who sent it to whom, on its
   place and on the repetition. Pure. */
#ifndef UNISONO_PATTERN_H
#define UNISONO_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014): every bit of the result depends on every bit of the argument. */
static inline uint64_t pattern_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Identifies a block: repetition, sender, receiver. */
uint64_t pattern_key(uint64_t repetition, int from, int to);

void pattern_fill(void *block, size_t bytes, uint64_t key);

/* Position of the first byte that is not as filled; `bytes` when all are. */
size_t pattern_first_wrong(const void *block, size_t bytes, uint64_t key);
unsigned char pattern_byte(size_t position, uint64_t key);

/* Writes to every cache line of a buffer, differently each repetition: what an application that computes between two
   calls does to it. Four-byte elements stay small whole floats, so sums stay free of denormals and NaN. */
void pattern_touch(void *buffer, size_t bytes, uint64_t repetition);

#endif
