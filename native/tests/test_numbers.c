/* Numbers on which groups of ranks agree, each rank in several groups: none is two groups' on any rank, and all ranks of a group find the
 * same. */
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "numbers.h"
#include "reserve.h"

void *reserve_get(size_t bytes)
{
    return calloc(1, bytes);
}

void reserve_put(void *memory)
{
    free(memory);
}

enum { RANKS = 6, GROUPS = 300, NUMBERS = 2000 };

static struct numbers of[RANKS];
static bool is_taken[RANKS][NUMBERS];
static struct {
    bool has[RANKS], holds[RANKS]; /* a rank that is in it has not given its number back yet */
    int number, left;
} group[GROUPS];

static void agree(int which)
{
    int most = 0, least = NUMBERS, end = 0;
    uint64_t all[NUMBERS_WORDS] = {0}, shown[NUMBERS_WORDS];
    for (int rank = 0; rank < RANKS; rank++)
        if (group[which].has[rank]) {
            most = of[rank].first_free > most ? of[rank].first_free : most;
            least = of[rank].first_free < least ? of[rank].first_free : least;
            end = of[rank].end > end ? of[rank].end : end;
        }
    for (int rank = 0; rank < RANKS && least < most; rank++)
        if (group[which].has[rank]) {
            numbers_show(&of[rank], most, shown);
            for (int i = 0; i < NUMBERS_WORDS; i++)
                all[i] |= shown[i];
        }
    most = least < most ? numbers_common(most, all, end) : most;
    CHECK(most >= 0 && most < NUMBERS);
    group[which].number = most;
    for (int rank = 0; rank < RANKS; rank++)
        if (group[which].has[rank]) {
            CHECK(!is_taken[rank][most]);
            is_taken[rank][most] = true;
            numbers_take(&of[rank], most);
        }
}

static void make(int which)
{
    group[which].left = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        group[which].has[rank] = group[which].holds[rank] = rand() % 2;
        group[which].left += group[which].has[rank];
    }
    if (group[which].left > 0)
        agree(which);
}

/* One of its ranks, before the others. */
static void give(int which)
{
    int rank = rand() % RANKS;
    while (!group[which].holds[rank])
        rank = (rank + 1) % RANKS;
    group[which].holds[rank] = false;
    group[which].left--;
    is_taken[rank][group[which].number] = false;
    numbers_give(&of[rank], group[which].number);
}

/* Nothing is free in all that ranks look at. */
static void all_taken(void)
{
    struct numbers one = {0};
    uint64_t shown[NUMBERS_WORDS];
    for (int i = 0; i < NUMBERS_SEEN + 100; i++)
        numbers_take(&one, i);
    numbers_give(&one, 3);
    CHECK(one.first_free == 3);
    numbers_show(&one, 4, shown);
    CHECK(numbers_common(4, shown, 7000) == 7000);
    numbers_show(&one, 3, shown);
    CHECK(numbers_common(3, shown, 7000) == 3);
    numbers_show(&one, 110, shown);
    CHECK(numbers_common(110, shown, 7000) == NUMBERS_SEEN + 100);
    numbers_end(&one);
}

int main(void)
{
    int highest = 0;
    for (int i = 0; i < 100000; i++) {
        const int which = rand() % (i % 2000 < 1000 ? GROUPS : 5);
        if (group[which].left == 0)
            make(which);
        else
            give(which);
        highest = group[which].number > highest ? group[which].number : highest;
    }
    CHECK(highest < 2 * GROUPS); /* they are taken again */
    all_taken();
    for (int which = 0; which < GROUPS; which++)
        while (group[which].left > 0)
            give(which);
    for (int rank = 0; rank < RANKS; rank++) {
        CHECK(of[rank].first_free == 0 && of[rank].end == 0);
        numbers_end(&of[rank]);
    }
    /* One that is there before the next is made, and goes after that. */
    for (int i = 0, last = -1; i < 10000; i++) {
        const int next = of[0].first_free;
        CHECK(next < 2);
        numbers_take(&of[0], next);
        if (last >= 0)
            numbers_give(&of[0], last);
        last = next;
    }
    numbers_end(&of[0]);
    return verdict();
}
