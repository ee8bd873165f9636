/* Starts of persistent collectives. */
#include "kept.h"

#include "given.h"

/* What a rank gives with a start. */
static unsigned char *data_of(const struct kept *kept, int local, uint64_t start)
{
    struct kept_part *part = kept_part_of(kept, local);
    const int slot = (int)(start % (uint64_t)kept->slots);
    return kept->is_long ? (unsigned char *)&part->lines[kept->slots] + slot * kept->apart : part->lines[slot].payload;
}

static _Atomic uint64_t *count_of(const struct kept *kept, int local, uint64_t start)
{
    return &kept_part_of(kept, local)->lines[start % (uint64_t)kept->slots].count;
}

void kept_start(struct kept *kept)
{
    const struct call *call = &kept->call;
    const int rank = kept->keep->rank;
    const uint64_t start = kept->starts++;
    given_put(call, rank, kept->keep->ranks, data_of(kept, rank, start));
    atomic_store_explicit(count_of(kept, rank, start), start + 1, memory_order_release);
    given_to_self(call, rank);
    given_expected(call, rank, kept->keep->ranks, &kept->seen, &kept->until);
}

/* Whether all that read what this rank gives are over with so many starts. */
static bool have_read(struct kept *kept, uint64_t starts)
{
    uint64_t least = UINT64_MAX;
    if (kept->first_reader >= kept->readers_end || kept->read >= starts)
        return true;
    for (int i = kept->first_reader; i < kept->readers_end; i++) {
        const int reader = given_reader(&kept->call, i);
        if (reader < 0 || reader == kept->keep->rank)
            continue;
        uint64_t over = atomic_load_explicit(&kept_part_of(kept, reader)->over, memory_order_acquire);
        least = over < least ? over : least;
    }
    kept->read = least;
    return least >= starts;
}

static bool has_given(const struct kept *kept, int rank, uint64_t start)
{
    return rank < 0 || atomic_load_explicit(count_of(kept, rank, start), memory_order_acquire) > start;
}

bool kept_is_over(struct kept *kept)
{
    const uint64_t start = kept->starts - 1, slots = (uint64_t)kept->slots;
    while (kept->seen < kept->until && has_given(kept, given_giver(&kept->call, kept->seen), start))
        kept->seen++;
    if (kept->seen < kept->until || (start + 2 > slots && !have_read(kept, start + 2 - slots)))
        return false;
    given_take(&kept->call, kept->keep->rank, kept->keep->ranks, data_of(kept, 0, start), kept->keep->segment.each);
    if (kept->reads)
        atomic_store_explicit(&kept_part_of(kept, kept->keep->rank)->over, start + 1, memory_order_release);
    return true;
}
