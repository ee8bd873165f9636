#include "pairs.h"

#include "copy.h"

/* All slots of a node together take no more than this, as its cells do; the lines add 640 bytes a pair (24 MB for 192
   ranks). */
static const int64_t most = INT64_C(32) << 20;
static const int64_t largest_slot = 4 << 10;
_Static_assert((int)PAIR_CELLS == (int)CELLS, "cell_bytes_for() counts CELLS");

static int64_t rounded(int64_t bytes)
{
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

/* Where everything is in a rank's part; its length. */
static int64_t arrange(struct pairs *pairs, int ranks)
{
    pairs->cell_bytes = cell_bytes_for(ranks);
    pairs->cell_stride = cell_stride_for(ranks);
    int64_t slots = (int64_t)ranks * PAIR_DEPTH;
    pairs->slot_bytes = largest_slot;
    while (pairs->slot_bytes > PAIR_ROOM && pairs->slot_bytes * slots * ranks > room_share(most))
        pairs->slot_bytes /= 2;
    bool none = pairs->slot_bytes <= PAIR_ROOM;
    pairs->slot_bytes = none ? PAIR_ROOM : pairs->slot_bytes;
    pairs->shared_at = rounded((int64_t)sizeof(struct pairs) + ranks * (int64_t)sizeof(struct pair));
    pairs->slots_at = pairs->shared_at + ranks * (int64_t)sizeof(struct pair_shared);
    pairs->cells_at = pairs->slots_at + (none ? 0 : slots * pairs->slot_bytes);
    return pairs->cells_at + PAIR_CELLS * pairs->cell_stride;
}

static struct pair_shared *shared_of(const struct pairs *pairs, int local, int with)
{
    return (struct pair_shared *)(void *)(segment_of(&pairs->segment, local) + pairs->shared_at) + with;
}

static bool make(struct coll_comm *comm)
{
    struct node *node = comm->node;
    struct pairs plan = {.next_cell = 0};
    if (!node->shared || !segment_create(&plan.segment, comm, arrange(&plan, node->ranks)))
        return false;
    plan.streams_from = copy_streams_from(node->ranks);
    for (int cell = 0; cell < PAIR_CELLS; cell++)
        plan.uses[cell].to = -1;
    struct pairs *pairs = node->pairs = (struct pairs *)(void *)segment_of(&plan.segment, node->rank);
    *pairs = plan;
    for (int local = 0; local < node->ranks; local++)
        pairs->pairs[local] =
            (struct pair){.mine = shared_of(pairs, node->rank, local), .theirs = shared_of(pairs, local, node->rank)};
    return true;
}

bool pairs_ready(struct coll_comm *comm)
{
    struct node *node = comm->node;
    if (!node->shared) /* nothing was refused */
        return false;
    if (node->pairs == NULL && !node->pairs_refused && !make(comm))
        comm->is_short = comm->fabric.hears = node->pairs_refused = true;
    return node->pairs != NULL;
}

void pairs_free(struct node *node)
{
    if (node->pairs == NULL)
        return;
    struct segment segment = node->pairs->segment;
    node->pairs = NULL;
    segment_free(&segment);
}
