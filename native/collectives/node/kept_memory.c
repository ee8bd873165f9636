/* The memory of persistent collectives, and who has which place. */
#include "kept.h"

#include "given.h"

static const uint64_t place_bits = UINT64_C(0xffffffff);

/* Of a rank: for some hundred requests of short messages, or a few of long ones. */
static const int64_t part_usual = 512 << 10, part_least = 16 << 10, all_most = 32 << 20;

static int64_t part_for(int ranks)
{
    int64_t part = part_usual;
    while (part > part_least && part * ranks > room_share(all_most))
        part /= 2;
    return part;
}

static struct keep_part *part_of(const struct keep *keep, int local)
{
    return (struct keep_part *)(void *)segment_of(&keep->segment, local);
}

static void belong(struct keep *keep)
{
    keep->rank = keep->comm->topology.local;
    keep->ranks = keep->comm->topology.locals;
}

bool keep_offer(struct keep *keep, struct shared_place *place, int *file)
{
    belong(keep);
    if (!segment_offer(&keep->segment, keep->comm, part_for(keep->ranks), place, file))
        return false;
    kept_room_start(&keep->room, sizeof(struct keep_part), part_for(keep->ranks));
    return true;
}

bool keep_take(struct keep *keep, const struct shared_place *place)
{
    belong(keep);
    return segment_take(&keep->segment, keep->comm, part_for(keep->ranks), place);
}

void keep_free(struct keep *keep)
{
    kept_room_end(&keep->room);
    segment_free(&keep->segment);
}

static _Atomic int *back_of(const struct keep *keep, int64_t at)
{
    return &((struct kept_part *)(void *)(segment_of(&keep->segment, 0) + at))->back;
}

static bool is_back(void *with, int64_t at)
{
    const struct keep *keep = with;
    return atomic_load_explicit(back_of(keep, at), memory_order_acquire) == keep->ranks;
}

/* Waits until all know the decisions below. */
static void await_heard(struct keep *keep, uint64_t below)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; keep->known < below && i < keep->ranks; i++) {
        const _Atomic uint64_t *heard = &part_of(keep, i)->heard;
        wait_for(keep->comm, heard, below);
        uint64_t now = atomic_load_explicit(heard, memory_order_acquire);
        least = now < least ? now : least;
    }
    keep->known = keep->known < below ? least : keep->known;
}

/* Whatever was there. */
static void clear(const struct kept *kept)
{
    for (int i = 0; i < kept->keep->ranks; i++) {
        struct kept_part *part = kept_part_of(kept, i);
        atomic_store_explicit(&part->over, 0, memory_order_relaxed);
        atomic_store_explicit(&part->back, 0, memory_order_relaxed);
        for (int slot = 0; slot < kept->slots; slot++)
            atomic_store_explicit(&part->lines[slot].count, 0, memory_order_relaxed);
    }
}

/* By local number 0. */
static void decide(struct kept *kept, _Atomic uint64_t *word, uint64_t number, int64_t bytes)
{
    struct keep *keep = kept->keep;
    if (number >= KEEP_DECISIONS)
        await_heard(keep, number + 1 - KEEP_DECISIONS);
    kept->at = kept_room_take(&keep->room, bytes, is_back, keep);
    if (kept->at >= 0 && kept->at < keep->used)
        clear(kept);
    if (kept->at >= 0 && kept->at + bytes > keep->used)
        keep->used = kept->at + bytes;
    uint64_t place = kept->at < 0 ? 0 : (uint64_t)kept->at / LINE_BYTES;
    atomic_store_explicit(word, (number + 1) << 32 | place, memory_order_release);
}

static bool find_place(struct kept *kept, int64_t bytes)
{
    struct keep *keep = kept->keep;
    const uint64_t number = keep->decided;
    if (number == place_bits - 1) /* more are not told apart */
        return false;
    _Atomic uint64_t *word = &part_of(keep, 0)->decision[number % KEEP_DECISIONS];
    keep->decided++;
    if (keep->rank == 0)
        decide(kept, word, number, bytes);
    else
        wait_for(keep->comm, word, (number + 1) << 32);
    kept->at = (int64_t)(atomic_load_explicit(word, memory_order_acquire) & place_bits) * LINE_BYTES;
    atomic_store_explicit(&part_of(keep, keep->rank)->heard, number + 1, memory_order_release);
    return kept->at != 0 && wait_outcome(keep->comm) == MPI_SUCCESS;
}

/* Where ranks that give do not await one another, more slots let them be ahead, and look less often who has read what. */
static int slots_for(enum collective collective, int64_t given)
{
    const int64_t cheap = 4 << 10;
    if (collective_is_near_later(collective))
        return given <= cheap ? KEPT_SLOTS_MOST : 2;
    switch (collective) {
    case COLL_IBCAST:
    case COLL_ISCATTER:
    case COLL_ISCATTERV:
    case COLL_IGATHER:
    case COLL_IGATHERV:
    case COLL_IREDUCE:
    case COLL_ISCAN:
    case COLL_IEXSCAN: return given <= cheap ? KEPT_SLOTS_MOST : 2;
    default: return 2;
    }
}

/* Who reads what this rank gives and gives this one nothing that it awaits. */
static void find_readers(struct kept *kept)
{
    const struct call *call = &kept->call;
    const int rank = kept->keep->rank, ranks = kept->keep->ranks;
    const bool is_root = rank == call->root;
    if (collective_is_near_later(call->collective)) {
        kept->reads = call->around->sources > 0;
        kept->readers_end = call->around->targets;
        return;
    }
    switch (call->collective) {
    case COLL_IBCAST:
    case COLL_ISCATTER:
    case COLL_ISCATTERV:
        kept->reads = !is_root;
        kept->readers_end = is_root ? ranks : 0;
        break;
    case COLL_IGATHER:
    case COLL_IGATHERV:
    case COLL_IREDUCE:
        kept->reads = is_root;
        kept->first_reader = call->root;
        kept->readers_end = is_root ? call->root : call->root + 1;
        break;
    case COLL_ISCAN:
    case COLL_IEXSCAN:
        kept->reads = rank > 0;
        kept->first_reader = rank + 1;
        kept->readers_end = ranks;
        break;
    default: break;
    }
}

bool kept_make(struct kept *kept, struct keep *keep, const struct call *call)
{
    const int64_t given = given_bytes(call, keep->ranks), line = LINE_BYTES;
    *kept = (struct kept){.keep = keep, .call = *call, .given = given, .is_long = given > POST_ROOM};
    kept->slots = slots_for(call->collective, given);
    kept->apart = kept->is_long ? (given + line - 1) / line * line : 0;
    find_readers(kept);
    return find_place(kept, (int64_t)sizeof(struct kept_part) + kept->slots * (line + kept->apart));
}

void kept_give_back(struct kept *kept)
{
    atomic_fetch_add_explicit(back_of(kept->keep, kept->at), 1, memory_order_acq_rel);
}
