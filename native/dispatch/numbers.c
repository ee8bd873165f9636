#include "numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "reserve.h"

enum { BITS = 64 };

static bool is_taken(const struct numbers *numbers, int number)
{
    return number < numbers->end && numbers->taken[number / BITS] >> number % BITS & 1;
}

void numbers_show(const struct numbers *numbers, int from, uint64_t shown[NUMBERS_WORDS])
{
    memset(shown, 0, NUMBERS_WORDS * sizeof *shown);
    for (int i = 0; i < NUMBERS_SEEN; i++)
        shown[i / BITS] |= (uint64_t)is_taken(numbers, from + i) << i % BITS;
}

int numbers_common(int from, const uint64_t shown[NUMBERS_WORDS], int end)
{
    for (int i = 0; i < NUMBERS_SEEN; i++)
        if (!(shown[i / BITS] >> i % BITS & 1))
            return from + i;
    return end;
}

void numbers_take(struct numbers *numbers, int number)
{
    if (number / BITS >= numbers->words) {
        const int words = 2 * (number / BITS + 1);
        uint64_t *taken = reserve_get((size_t)words * sizeof *taken);
        if (numbers->words > 0)
            memcpy(taken, numbers->taken, (size_t)numbers->words * sizeof *taken);
        reserve_put(numbers->taken);
        numbers->taken = taken;
        numbers->words = words;
    }
    numbers->taken[number / BITS] |= UINT64_C(1) << number % BITS;
    numbers->end = number < numbers->end ? numbers->end : number + 1;
    while (is_taken(numbers, numbers->first_free))
        numbers->first_free++;
}

void numbers_give(struct numbers *numbers, int number)
{
    numbers->taken[number / BITS] &= ~(UINT64_C(1) << number % BITS);
    numbers->first_free = number < numbers->first_free ? number : numbers->first_free;
    while (numbers->end > 0 && !is_taken(numbers, numbers->end - 1))
        numbers->end--;
}

void numbers_end(struct numbers *numbers)
{
    reserve_put(numbers->taken);
    *numbers = (struct numbers){0};
}
