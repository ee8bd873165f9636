#include "table.h"

#include <string.h>
#include <sys/mman.h>

enum { CELLS_LEAST = 64 };

/* Frames and paths for so many cells: a call path leads to several cells, and 8 frames are the default. */
static void limits(struct table *table, uint32_t cells)
{
    table->cell_limit = cells;
    table->site_limit = cells / 2;
    table->path_limit = cells / 4;
    table->frame_limit = cells / 4 * 8;
}

static size_t line_round(size_t bytes)
{
    return (bytes + 127) / 128 * 128;
}

static size_t index_bytes(uint32_t limit)
{
    return line_round(2 * (size_t)limit * sizeof(uint32_t));
}

static size_t place_arrays(struct table *table, char *memory)
{
    size_t used = 0;
    struct {
        void **array;
        size_t bytes;
    } parts[] = {
        {(void **)&table->cells, table->cell_limit * sizeof *table->cells},
        {(void **)&table->completions, table->cell_limit * sizeof *table->completions},
        {(void **)&table->cell_index.slots, index_bytes(table->cell_limit)},
        {(void **)&table->sites, table->site_limit * sizeof *table->sites},
        {(void **)&table->site_index.slots, index_bytes(table->site_limit)},
        {(void **)&table->paths, table->path_limit * sizeof *table->paths},
        {(void **)&table->path_index.slots, index_bytes(table->path_limit)},
        {(void **)&table->frames, table->frame_limit * sizeof *table->frames},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (memory != NULL)
            *parts[i].array = memory + used;
        used += line_round(parts[i].bytes);
    }
    return used;
}

bool table_create(struct table *table, size_t bytes)
{
    *table = (struct table){0};
    uint32_t cells = 0;
    for (uint32_t more = CELLS_LEAST; more <= UINT32_C(1) << 28; more *= 2) {
        limits(table, more);
        if (place_arrays(table, NULL) > bytes)
            break;
        cells = more;
    }
    if (cells == 0)
        return false;
    limits(table, cells);
    table->bytes = place_arrays(table, NULL);
    void *memory = mmap(NULL, table->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    table->memory = memory;
    place_arrays(table, memory);
    table->cell_index.mask = 2 * table->cell_limit - 1;
    table->site_index.mask = 2 * table->site_limit - 1;
    table->path_index.mask = 2 * table->path_limit - 1;
    table->path_count = 1; /* [0] is the empty path */
    return true;
}

void table_free(struct table *table)
{
    if (table->memory != NULL)
        munmap(table->memory, table->bytes);
    *table = (struct table){0};
}

void table_reset(struct table *table)
{
    memset(table->cell_index.slots, 0, index_bytes(table->cell_limit));
    memset(table->site_index.slots, 0, index_bytes(table->site_limit));
    memset(table->path_index.slots, 0, index_bytes(table->path_limit));
    memset(table->completions, 0, table->cell_count * sizeof *table->completions);
    table->cell_count = table->site_count = table->frame_count = 0;
    table->path_count = 1;
    table->calls = table->dropped = table->time = 0;
}

/* Every bit of the key moves the upper half of the product, which is folded into the lower one. */
static inline uint64_t mix(uint64_t key)
{
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 32;
}

static inline uint64_t place_hash(struct place place)
{
    return mix(place.where ^ place.what << 20);
}

static inline bool same_place(struct place place, uint32_t path, uint16_t function, uint16_t phase, int32_t comm)
{
    struct place other = place_of(path, function, phase, comm);
    return place.where == other.where && place.what == other.what;
}

uint32_t table_path(struct table *table, uint64_t hash, const void *const *frames, uint32_t count, bool *lost)
{
    if (count == 0)
        return 0;
    uint32_t *slots = table->path_index.slots;
    uint32_t slot = (uint32_t)(hash ^ hash >> 32) & table->path_index.mask;
    for (; slots[slot] != 0; slot = (slot + 1) & table->path_index.mask)
        if (table->paths[slots[slot] - 1].hash == hash)
            return slots[slot] - 1;
    if (table->path_count == table->path_limit || count > table->frame_limit - table->frame_count) {
        *lost = true;
        return 0;
    }
    struct path *path = &table->paths[table->path_count];
    *path = (struct path){.hash = hash, .first = table->frame_count, .count = count};
    for (uint32_t i = 0; i < count; i++)
        table->frames[table->frame_count++] = (uint64_t)(uintptr_t)frames[i];
    slots[slot] = ++table->path_count;
    return table->path_count - 1;
}

/* The cell of this exact place, size and bin, made if there is room and `make`; else NULL. */
static inline struct cell *cell_of(struct table *table, uint64_t hash, struct place place, int64_t size, uint32_t bin,
                                   bool make)
{
    uint32_t *slots = table->cell_index.slots;
    uint32_t slot = (uint32_t)(mix(hash ^ (bin != 0 ? bin : (uint64_t)size << 8))) & table->cell_index.mask;
    for (; slots[slot] != 0; slot = (slot + 1) & table->cell_index.mask) {
        struct cell *cell = &table->cells[slots[slot] - 1];
        if (cell->bin == bin && (bin != 0 || cell->size_min == size) &&
            same_place(place, cell->path, cell->function, cell->phase, cell->comm))
            return cell;
    }
    if (!make || table->cell_count == table->cell_limit)
        return NULL;
    struct cell *cell = &table->cells[table->cell_count];
    *cell = (struct cell){.path = (uint32_t)(place.where >> 32),
                          .function = (uint16_t)(place.what >> 16),
                          .phase = (uint16_t)place.what,
                          .comm = (int32_t)place.where,
                          .bin = bin,
                          .size_min = size,
                          .size_max = size,
                          .time_min = UINT64_MAX,
                          .waiting = NOT_KNOWN};
    slots[slot] = ++table->cell_count;
    return cell;
}

/* How many exact sizes this place has had, to be counted up; NULL without room. */
static uint32_t *sizes_of(struct table *table, uint64_t hash, struct place place)
{
    uint32_t *slots = table->site_index.slots;
    uint32_t slot = (uint32_t)hash & table->site_index.mask;
    for (; slots[slot] != 0; slot = (slot + 1) & table->site_index.mask) {
        struct site *site = &table->sites[slots[slot] - 1];
        if (same_place(place, site->path, site->function, site->phase, site->comm))
            return &site->sizes;
    }
    if (table->site_count == table->site_limit)
        return NULL;
    struct site *site = &table->sites[table->site_count];
    *site = (struct site){.path = (uint32_t)(place.where >> 32),
                          .function = (uint16_t)(place.what >> 16),
                          .phase = (uint16_t)place.what,
                          .comm = (int32_t)place.where};
    slots[slot] = ++table->site_count;
    return &site->sizes;
}

static uint32_t bin_of(int64_t size)
{
    return size > 0 ? 65 - (uint32_t)__builtin_clzll((unsigned long long)size) : 1;
}

static struct cell *new_cell(struct table *table, uint64_t hash, struct place place, int64_t size)
{
    uint32_t *sizes = sizes_of(table, hash, place);
    if (sizes == NULL)
        return NULL;
    if (*sizes >= SIZES_EXACT && size >= 0)
        return cell_of(table, hash, place, size, bin_of(size), true);
    struct cell *cell = cell_of(table, hash, place, size, 0, true);
    *sizes += cell != NULL;
    return cell;
}

uint32_t table_add(struct table *table, struct place place, const struct amount *amount, uint64_t ticks,
                   int64_t waiting)
{
    table->calls++;
    table->time += ticks;
    uint64_t hash = place_hash(place);
    struct cell *cell = cell_of(table, hash, place, amount->size, 0, false);
    if (cell == NULL)
        cell = new_cell(table, hash, place, amount->size);
    if (cell == NULL) {
        table->dropped++;
        return TABLE_NO_CELL;
    }
    if (amount->size < cell->size_min)
        cell->size_min = amount->size;
    if (amount->size > cell->size_max)
        cell->size_max = amount->size;
    if (amount->size > 0)
        cell->size_sum += (uint64_t)amount->size;
    cell->calls++;
    cell->sent = amount_sum(cell->sent, amount->sent);
    cell->received = amount_sum(cell->received, amount->received);
    cell->time += ticks;
    if (ticks < cell->time_min)
        cell->time_min = ticks;
    if (ticks > cell->time_max)
        cell->time_max = ticks;
    if (waiting >= 0)
        cell->waiting = (cell->waiting > 0 ? cell->waiting : 0) + waiting;
    return (uint32_t)(cell - table->cells);
}

void table_complete(struct table *table, uint32_t cell, uint64_t calls, uint64_t ticks)
{
    table->completions[cell].calls += calls;
    table->completions[cell].time += ticks;
}
