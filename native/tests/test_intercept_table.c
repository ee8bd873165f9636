/* The recorder's tables: every call is in a cell or counted as dropped, whatever comes. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "table.h"

static struct place here;

static void add(struct table *table, struct place place, int64_t size, uint64_t ticks)
{
    struct amount amount = amount_of(size, size, size < 0 ? NOT_KNOWN : 2 * size);
    table_add(table, place, &amount, ticks, NOT_KNOWN);
}

static const struct cell *holding(const struct table *table, int64_t size)
{
    for (uint32_t i = 0; i < table->cell_count; i++)
        if (table->cells[i].size_min <= size && size <= table->cells[i].size_max)
            return &table->cells[i];
    return NULL;
}

static void one_cell(void)
{
    struct table table;
    CHECK(table_create(&table, 1 << 20));
    CHECK(table.bytes <= 1 << 20);
    add(&table, here, 100, 7);
    add(&table, here, 100, 5);
    add(&table, here, 100, 9);
    CHECK(table.cell_count == 1 && table.calls == 3 && table.time == 21 && table.dropped == 0);
    const struct cell *cell = table.cells;
    CHECK(cell->path == 1 && cell->function == 2 && cell->phase == 3 && cell->comm == 4);
    CHECK(cell->size_min == 100 && cell->size_max == 100 && cell->size_sum == 300 && cell->calls == 3);
    CHECK(cell->sent == 300 && cell->received == 600);
    CHECK(cell->time == 21 && cell->time_min == 5 && cell->time_max == 9 && cell->waiting == NOT_KNOWN);
    table_free(&table);
}

static void places_differ_in_every_part(void)
{
    struct table table;
    CHECK(table_create(&table, 1 << 20));
    struct place places[] = {here, place_of(2, 2, 3, 4), place_of(1, 3, 3, 4), place_of(1, 2, 4, 4),
                             place_of(1, 2, 3, NOT_KNOWN)};
    for (int i = 0; i < 5; i++)
        add(&table, places[i], 1, 1);
    CHECK(table.cell_count == 5 && table.site_count == 5);
    table_free(&table);
}

static void sixteen_sizes_then_bins(void)
{
    struct table table;
    CHECK(table_create(&table, 1 << 20));
    add(&table, here, NOT_KNOWN, 1); /* a call without a message is one of them */
    for (int i = 0; i < 15; i++)
        add(&table, here, 10 * i, 1);
    CHECK(table.cell_count == 16);
    add(&table, here, 1000, 1); /* the bin of 10 bits: 512 to 1023 */
    add(&table, here, 600, 1);
    add(&table, here, 1023, 1);
    add(&table, here, 1024, 1); /* the next */
    add(&table, here, 140, 1);  /* exact still */
    add(&table, here, INT64_MAX / 2, 1);
    CHECK(table.cell_count == 19);
    const struct cell *bin = holding(&table, 700);
    CHECK(bin != NULL && bin->calls == 3 && bin->size_min == 600 && bin->size_max == 1023 && bin->size_sum == 2623);
    CHECK(holding(&table, 1024) != bin && holding(&table, 140)->calls == 2);
    add(&table, place_of(1, 9, 3, 4), 1000, 1); /* another site has its own sixteen */
    CHECK(table.cells[table.cell_count - 1].size_min == 1000 && table.cells[table.cell_count - 1].bin == 0);
    table_free(&table);
}

static void unknown_bytes_stay_unknown(void)
{
    struct table table;
    CHECK(table_create(&table, 1 << 20));
    struct amount known = amount_of(8, 8, 8), unknown = amount_of(8, 0, NOT_KNOWN);
    table_add(&table, here, &known, 1, 3);
    table_add(&table, here, &unknown, 1, NOT_KNOWN);
    table_add(&table, here, &known, 1, 0);
    CHECK(table.cells->sent == 16 && table.cells->received == NOT_KNOWN && table.cells->waiting == 3);
    table_free(&table);
}

static void full(void)
{
    struct table table;
    CHECK(!table_create(&table, 1000));
    CHECK(table_create(&table, 64 << 10));
    uint64_t calls = 100000, counted = 0;
    for (uint64_t i = 0; i < calls; i++) {
        add(&table, place_of((uint32_t)i, 2, 3, 4), 1, 1);
        add(&table, here, 1, 1);
    }
    for (uint32_t i = 0; i < table.cell_count; i++)
        counted += table.cells[i].calls;
    CHECK(table.cell_count <= table.cell_limit && table.dropped > 0);
    CHECK(counted + table.dropped == 2 * calls && table.calls == 2 * calls);
    table_complete(&table, 0, 2, 30);
    table_complete(&table, 0, 1, 12);
    CHECK(table.completions[0].calls == 3 && table.completions[0].time == 42);
    table_complete(&table, table.cell_count - 1, 1, 1); /* there is one for each cell */
    table_reset(&table);
    CHECK(table.cell_count == 0 && table.calls == 0 && table.dropped == 0 && table.path_count == 1);
    add(&table, here, 1, 1);
    CHECK(table.completions[0].calls == 0 && table.completions[0].time == 0);
    CHECK(table.cell_count == 1 && table.cells->calls == 1);
    table_free(&table);
}

static void paths(void)
{
    struct table table;
    bool lost = false;
    const void *frames[PATH_MOST];
    CHECK(table_create(&table, 64 << 10));
    for (int i = 0; i < PATH_MOST; i++)
        frames[i] = (const void *)(uintptr_t)(1000 + i);
    CHECK(table_path(&table, 77, frames, 0, &lost) == 0);
    CHECK(table_path(&table, 77, frames, 3, &lost) == 1);
    CHECK(table_path(&table, 78, frames, 16, &lost) == 2);
    CHECK(table_path(&table, 77, frames, 3, &lost) == 1);
    CHECK(table.paths[2].count == 16 && table.frames[table.paths[2].first + 15] == 1015);
    CHECK(!lost);
    uint32_t last = 2;
    for (uint64_t hash = 1000; !lost && hash < 1000000; hash++) {
        uint32_t path = table_path(&table, hash << 40, frames, 16, &lost);
        CHECK(lost ? path == 0 : path == last + 1);
        last = path;
    }
    CHECK(lost && table.frame_count <= table.frame_limit && table.path_count <= table.path_limit);
    lost = false;
    CHECK(table_path(&table, 77, frames, 3, &lost) == 1 && !lost);
    table_free(&table);
}

/* Against a list that is searched from its beginning. */
static void many_at_random(void)
{
    enum { KINDS = 500, CALLS = 100000 };
    struct table table;
    static uint64_t calls[KINDS], ticks[KINDS];
    CHECK(table_create(&table, 1 << 20));
    srand(1);
    for (int i = 0; i < CALLS; i++) {
        int kind = rand() % KINDS, time = rand() % 1000;
        add(&table, place_of((uint32_t)kind / 10, (uint16_t)(kind % 5), 0, kind % 2), kind, (uint64_t)time);
        calls[kind]++;
        ticks[kind] += (uint64_t)time;
    }
    CHECK(table.cell_count == KINDS && table.dropped == 0);
    for (uint32_t i = 0; i < table.cell_count; i++) {
        const struct cell *cell = &table.cells[i];
        CHECK(cell->calls == calls[cell->size_min] && cell->time == ticks[cell->size_min]);
        CHECK(cell->path == (uint32_t)cell->size_min / 10 && cell->comm == cell->size_min % 2);
    }
    table_free(&table);
}

int main(void)
{
    here = place_of(1, 2, 3, 4);
    one_cell();
    places_differ_in_every_part();
    sixteen_sizes_then_bins();
    unknown_bytes_stay_unknown();
    full();
    paths();
    many_at_random();
    return verdict();
}
