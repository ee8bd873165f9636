/* Requests of nonblocking collectives come and go; each is found as long as it is under way, by one who takes it. */
#include <stdlib.h>

#include "check.h"
#include "pending.h"

static MPI_Request handle(int i)
{
    return (MPI_Request)(intptr_t)(1000 + 64 * i);
}

static void add(int i, uint32_t cell)
{
    pending_add(handle(i), &(struct origin){cell, (uint32_t)i % 16, 7}, false);
}

/* Whether it was there, with this cell. */
static bool gone(int i, uint32_t cell)
{
    uint16_t list = PENDING_NONE;
    if (!pending_take(handle(i), i, &list))
        return false;
    const struct pending *pending = pending_at(list);
    bool right = pending->handle == handle(i) && pending->place == i && pending->origin.cell == cell &&
                 pending->origin.slab == (uint32_t)i % 16 && pending->origin.epoch == 7;
    pending_free(list);
    return right;
}

static void one_after_the_other(void)
{
    add(1, 11);
    add(2, 22);
    CHECK(pending_count == 2);
    CHECK(!gone(3, 33) && gone(1, 11) && !gone(1, 11) && gone(2, 22));
    CHECK(pending_count == 0 && pending_lost == 0);
}

/* A call that waits for some takes them out; what it did not complete goes back. */
static void out_and_back(void)
{
    uint16_t list = PENDING_NONE;
    add(4, 44);
    add(5, 55);
    CHECK(pending_take(handle(4), 0, &list) && pending_take(handle(5), 3, &list) && !pending_take(handle(4), 0, &list));
    CHECK(pending_count == 0);
    add(4, 45); /* its handle is another's already, while the first is out */
    const struct pending *last = pending_at(list), *first = pending_at(last->next);
    CHECK(last->origin.cell == 55 && last->place == 3 && first->origin.cell == 44 && first->next == PENDING_NONE);
    pending_free((uint16_t)last->next);
    pending_back(list);
    CHECK(pending_count == 2 && gone(4, 45) && gone(5, 55) && !gone(4, 44));
}

/* One that was completed where nobody saw it does not stay in the way of the next with its handle. */
static void the_latest_counts(void)
{
    add(6, 66);
    add(6, 67);
    CHECK(pending_count == 1 && gone(6, 67) && !gone(6, 66));
}

static void handles_of_many_are_nobodys(void)
{
    pending_is_common(handle(8));
    add(8, 88);
    CHECK(pending_count == 0 && !gone(8, 88));
}

static void full(void)
{
    enum { MORE = 5 };
    for (int i = 0; i < PENDING_MOST + MORE; i++)
        add(100 + i, (uint32_t)i);
    CHECK(pending_count == PENDING_MOST && pending_lost == MORE);
    for (int i = 0; i < PENDING_MOST + MORE; i++)
        CHECK(gone(100 + i, (uint32_t)i) == (i < PENDING_MOST));
    CHECK(pending_count == 0);
    add(9, 99);
    CHECK(gone(9, 99));
}

static void many_at_random(void)
{
    enum { HANDLES = 3000, TURNS = 300000 };
    static uint32_t cells[HANDLES]; /* 0: not under way */
    uint32_t count = 0;
    srand(1);
    for (int turn = 1; turn <= TURNS; turn++) {
        int i = rand() % HANDLES;
        if (rand() % 2) {
            if (cells[i] == 0 && count == PENDING_MOST)
                continue;
            count += cells[i] == 0;
            cells[i] = (uint32_t)turn;
            add(i, cells[i]);
        } else {
            CHECK(gone(i, cells[i]) == (cells[i] != 0));
            count -= cells[i] != 0;
            cells[i] = 0;
        }
    }
    CHECK(pending_count == count);
    for (int i = 0; i < HANDLES; i++) {
        CHECK(gone(i, cells[i]) == (cells[i] != 0));
        cells[i] = 0;
    }
}

int main(void)
{
    pending_start(false);
    one_after_the_other();
    out_and_back();
    the_latest_counts();
    full();
    pending_lost = 0;
    many_at_random();
    pending_start(true);
    many_at_random();
    handles_of_many_are_nobodys();
    return verdict();
}
