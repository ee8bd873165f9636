/* What is sent and how results are recognised: patterns, reductions, uneven lengths. */
#include <stdlib.h>
#include <string.h>

#include "../bench/arena.h"
#include "../bench/counts.h"
#include "../bench/pattern.h"
#include "../bench/reduction.h"
#include "check.h"

static void blocks(void)
{
    unsigned char block[300];
    for (size_t bytes = 0; bytes < sizeof block; bytes += 7) {
        uint64_t key = pattern_key(5, 3, 4);
        memset(block, 0x5a, sizeof block);
        pattern_fill(block, bytes, key);
        CHECK(bytes == sizeof block || block[bytes] == 0x5a);
        CHECK(pattern_first_wrong(block, bytes, key) == bytes);
        for (size_t wrong = 0; wrong < bytes; wrong += 13) {
            block[wrong] ^= 1;
            CHECK(pattern_first_wrong(block, bytes, key) == wrong);
            block[wrong] ^= 1;
        }
    }
}

/* A block of another sender, receiver, repetition or place must not pass. */
static void blocks_differ(void)
{
    unsigned char block[64];
    pattern_fill(block, sizeof block, pattern_key(1, 2, 3));
    CHECK(pattern_first_wrong(block, sizeof block, pattern_key(2, 2, 3)) < 8);
    CHECK(pattern_first_wrong(block, sizeof block, pattern_key(1, 3, 2)) < 8);
    CHECK(pattern_first_wrong(block, sizeof block, pattern_key(1, 2, -1)) < 8);
    CHECK(pattern_first_wrong(block + 8, sizeof block - 8, pattern_key(1, 2, 3)) < 8);
}

static void touches_every_line(void)
{
    for (size_t bytes = 0; bytes < 600; bytes++) {
        unsigned char *before = malloc(bytes + 1), *after = malloc(bytes + 1);
        memset(before, 0xee, bytes + 1);
        memset(after, 0xee, bytes + 1);
        pattern_touch(after, bytes, 9);
        for (size_t line = 0; line < bytes; line += 64) {
            size_t length = bytes - line < 64 ? bytes - line : 64;
            CHECK(memcmp(before + line, after + line, length) != 0);
        }
        CHECK(after[bytes] == 0xee);
        free(before);
        free(after);
    }
}

static void touched_floats_stay_small(void)
{
    float values[64] = {0};
    pattern_touch(values, sizeof values, UINT64_C(1) << 40);
    for (int i = 0; i < 64; i++)
        CHECK(values[i] >= 0 && values[i] < 1024 && values[i] == (float)(int)values[i]);
}

enum { COUNT = 500 };

static void reduce_by_hand(int ranks, bool floats)
{
    static struct reduction reduction;
    float sums[COUNT] = {0}, send[COUNT];
    unsigned char ors[COUNT] = {0};
    const size_t first = 1000;
    void *result = floats ? (void *)sums : ors;
    reduction_prepare(&reduction, ranks, floats);
    for (int rank = 0; rank < ranks; rank++) {
        reduction_fill(&reduction, send, first, COUNT, rank, 77);
        for (int i = 0; i < COUNT; i++) {
            sums[i] += send[i];
            ors[i] ^= ((unsigned char *)send)[i];
        }
    }
    CHECK(reduction_first_wrong(&reduction, result, first, COUNT, 77) == COUNT);
    CHECK(reduction_first_wrong(&reduction, result, first + 1, COUNT, 77) < 20);
    CHECK(reduction_first_wrong(&reduction, result, first, COUNT, 78) < 20);
    if (floats)
        sums[400] += 1;
    else
        ors[400] ^= 1;
    CHECK(reduction_first_wrong(&reduction, result, first, COUNT, 77) == 400);
}

/* The first ranks of many have what all of them have, and their result is their own. */
static void reduce_the_first(int ranks, int of)
{
    static struct reduction all, some;
    float sums[COUNT] = {0}, send[COUNT], same[COUNT];
    reduction_prepare(&all, ranks, true);
    reduction_prepare_first(&some, ranks, of, true);
    for (int rank = 0; rank < of; rank++) {
        reduction_fill(&some, send, 0, COUNT, rank, 5);
        reduction_fill(&all, same, 0, COUNT, rank, 5);
        CHECK(memcmp(send, same, sizeof send) == 0);
        for (int i = 0; i < COUNT; i++)
            sums[i] += send[i];
    }
    CHECK(reduction_first_wrong(&some, sums, 0, COUNT, 5) == COUNT);
    CHECK(of == ranks || reduction_first_wrong(&all, sums, 0, COUNT, 5) < 20);
}

static void reductions(void)
{
    static const int sizes[] = {1, 2, 3, 4, 7, 8, 64, 192, 1000, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        reduce_by_hand(sizes[i], true);
        reduce_by_hand(sizes[i], false);
        reduce_the_first(sizes[i], (sizes[i] + 1) / 2);
    }
    reduce_the_first(100000, 3);
}

static void sums_are_exact(void)
{
    static struct reduction reduction;
    reduction_prepare(&reduction, 100000, true);
    for (uint32_t at = 0; at <= reduction.mask; at++)
        CHECK(reduction.expected[at] <= 1u << 24);
}

static void uneven_lengths(void)
{
    static const int64_t means[] = {0, 1, 3, 8, 100, 4096, 100000, INT64_C(1) << 30};
    for (int ranks = 1; ranks <= 200; ranks++) {
        for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
            int64_t total = 0;
            for (int i = 0; i < ranks; i++) {
                int64_t count = counts_uneven(means[m], i, ranks);
                CHECK(count >= means[m] / 2 && count <= means[m] + means[m] / 2 + 1);
                CHECK(i == 0 || count >= counts_uneven(means[m], i - 1, ranks));
                total += count;
            }
            CHECK(total == means[m] * ranks);
        }
    }
    CHECK(counts_uneven(100, 0, 2) == 75 && counts_uneven(100, 1, 2) == 125);
}

/* Every slot has its turn before one comes round again, cold or not; buffers lie within the arena and apart. */
static void slots_take_turns(void)
{
    struct arena arena = {0};
    struct problem problem = {""};
    for (size_t slots = 1; slots < 300; slots++) {
        bool cold = slots % 3 != 0;
        char seen[300] = {0};
        CHECK(arena_cut(&arena, slots, 2 * slots, slots, cold, &problem));
        CHECK(arena.mapped >= slots * arena.stride && arena.stride >= 3 * slots);
        for (size_t turn = 0; turn < slots; turn++) {
            struct slot slot = arena_next(&arena);
            size_t index = (size_t)(slot.send - arena.base) / arena.stride;
            CHECK(index < slots && !seen[index]);
            CHECK(slot.receive >= slot.send + slots && slot.receive + 2 * slots <= slot.send + arena.stride);
            seen[index] = 1;
        }
    }
    CHECK(arena_cut(&arena, 0, 0, 1, false, &problem) && arena_next(&arena).send == arena.base);
    arena_free(&arena);
    CHECK(arena.mapped == 0);
}

int main(void)
{
    slots_take_turns();
    blocks();
    blocks_differ();
    touches_every_line();
    touched_floats_stay_small();
    reductions();
    sums_are_exact();
    uneven_lengths();
    return verdict();
}
