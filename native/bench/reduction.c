#include "reduction.h"

#include <string.h>

#include "pattern.h"

/* Where in the table a position looks: the same on all ranks, which then differ by their own step. */
static uint32_t place(const struct reduction *reduction, size_t position, uint64_t repetition)
{
    return (uint32_t)pattern_mix(pattern_mix(repetition) + position) & reduction->mask;
}

static uint32_t contribution(const struct reduction *reduction, uint32_t place, int rank)
{
    uint32_t index = (place + (uint32_t)rank * 2654435761u) & reduction->mask;
    return reduction->floats ? index : (uint32_t)pattern_mix(index) & 0xff;
}

void reduction_prepare_first(struct reduction *reduction, int ranks, int of, bool floats)
{
    if (reduction->ranks == ranks && reduction->of == of && reduction->floats == floats)
        return;
    reduction->ranks = ranks;
    reduction->of = of;
    reduction->floats = floats;
    reduction->mask = REDUCTION_TABLE - 1;
    /* 2^24: up to here single precision holds every whole number. */
    while (floats && reduction->mask > 1 && (uint64_t)reduction->mask * (uint64_t)ranks > UINT64_C(1) << 24)
        reduction->mask >>= 1;
    for (uint32_t at = 0; at <= reduction->mask; at++) {
        uint32_t result = 0;
        for (int rank = 0; rank < of; rank++) {
            uint32_t value = contribution(reduction, at, rank);
            result = floats ? result + value : result ^ value;
        }
        reduction->expected[at] = result;
    }
}

void reduction_prepare(struct reduction *reduction, int ranks, bool floats)
{
    reduction_prepare_first(reduction, ranks, ranks, floats);
}

void reduction_fill(const struct reduction *reduction, void *send, size_t first, size_t count, int rank,
                    uint64_t repetition)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t value = contribution(reduction, place(reduction, first + i, repetition), rank);
        if (reduction->floats)
            ((float *)send)[i] = (float)value;
        else
            ((unsigned char *)send)[i] = (unsigned char)value;
    }
}

uint32_t reduction_expected(const struct reduction *reduction, size_t position, uint64_t repetition)
{
    return reduction->expected[place(reduction, position, repetition)];
}

size_t reduction_first_wrong(const struct reduction *reduction, const void *result, size_t first, size_t count,
                             uint64_t repetition)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t right = reduction_expected(reduction, first + i, repetition);
        bool good = reduction->floats ? ((const float *)result)[i] == (float)right
                                      : ((const unsigned char *)result)[i] == right;
        if (!good)
            return i;
    }
    return count;
}
