#include "side.h"

#include "stream.h"

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

static int64_t bytes_of(const struct side *side, int rank)
{
    return types_bytes(vectors_count(&side->blocks, rank), vectors_layout(&side->blocks, rank));
}

bool side_look_at_types(struct side *side, struct layout *layouts)
{
    const struct dispatch_vector *given = side->blocks.given;
    const bool has_types = given->types != NULL || given->fortran_types != NULL;
    bool good = true;
    side->blocks.layouts = layouts;
    for (int rank = 0; rank < side->count && good; rank++) {
        layouts[rank] = (struct layout){.contiguous = true};
        good = vectors_count(&side->blocks, rank) == 0 ||
               (has_types && types_layout(vectors_type(&side->blocks, rank), &layouts[rank]));
    }
    return good;
}

bool side_has_gaps(const struct side *side)
{
    const struct layout *layouts = side->blocks.layouts;
    bool any = false;
    for (int rank = 0; rank < side->count && layouts != NULL && !any; rank++)
        any = !layouts[rank].contiguous;
    return layouts != NULL ? any : side->count > 0 && !side->blocks.layout.contiguous;
}

bool side_measure(struct side *side)
{
    for (int rank = 0; rank < side->count; rank++) {
        int64_t bytes = bytes_of(side, rank);
        side->blocks.bytes[rank] = bytes;
        side->blocks.at[rank] = vectors_place(&side->blocks, rank);
        if (bytes < 0 || __builtin_add_overflow(side->total, bytes, &side->total))
            return false;
        side->first = side->longest == 0 && bytes > 0 ? rank : side->first;
        side->longest = bytes > side->longest ? bytes : side->longest;
    }
    return true;
}

/* Whether a block is packed at once, and sent out of there piece by piece: where a piece is all of it, or no more than one
   element is left, for which there had to be room too. */
static bool is_held(const struct side *side, int rank, int64_t bytes, int64_t piece)
{
    const struct layout *layout = vectors_layout(&side->blocks, rank);
    return bytes <= piece || (!layout->contiguous && bytes - piece <= layout->size);
}

/* Room for a piece of a block, and for an element where pieces may cut it. */
static int64_t room_of(const struct side *side, int rank, int64_t bytes, int64_t piece)
{
    const struct layout *layout = vectors_layout(&side->blocks, rank);
    if (side->is_one && rank != side->first)
        return 0;
    return is_held(side, rank, bytes, piece) ? bytes : piece + (layout->contiguous ? 0 : layout->size);
}

int side_room(struct comm_state *state, struct side *side, int which, int64_t piece)
{
    int64_t all = 0;
    void *room = NULL;
    if (!side->packs)
        return MPI_SUCCESS;
    for (int rank = 0; rank < side->count; rank++)
        all += room_of(side, rank, bytes_of(side, rank), piece);
    int failed = serve_room(state, which, all, &room);
    side->room = room;
    return failed;
}

void side_arrange(struct side *side, int64_t from, int64_t piece)
{
    struct blocks *blocks = &side->blocks;
    int64_t next = 0;
    for (int rank = 0; rank < side->count; rank++) {
        int64_t bytes = bytes_of(side, rank);
        blocks->bytes[rank] = bytes > from ? least(bytes - from, piece) : 0;
        blocks->at[rank] =
            side->packs ? next + (is_held(side, rank, bytes, piece) ? from : 0) : vectors_place(blocks, rank) + from;
        next += room_of(side, rank, bytes, piece);
    }
    for (int rank = 0; rank < side->count && side->is_one; rank++)
        blocks->at[rank] = blocks->at[side->first];
}

int side_move(const struct comm_state *state, const struct side *side, int64_t from, int64_t piece, bool leaves)
{
    const struct blocks *blocks = &side->blocks;
    int failed = MPI_SUCCESS;
    for (int rank = 0; rank < side->count && failed == MPI_SUCCESS && side->packs; rank++) {
        int64_t bytes = bytes_of(side, rank), at = from, now = blocks->bytes[rank];
        char *room = side->room + blocks->at[rank];
        bool held = is_held(side, rank, bytes, piece);
        if (side->is_one && rank != side->first)
            continue;
        if (held && (leaves ? from > 0 : bytes - from > piece))
            continue; /* it is there already, or has not all come */
        if (held)
            room -= from, at = 0, now = bytes - from > 0 ? bytes : 0;
        const struct stream stream = {.place = side->data + vectors_place(blocks, rank),
                                      .type = vectors_type(blocks, rank),
                                      .layout = vectors_layout(blocks, rank),
                                      .comm = state->ours->comm,
                                      .spare = held ? NULL : room + piece};
        failed = leaves ? stream_pack(&stream, at, now, room) : stream_unpack(&stream, at, now, room);
    }
    return failed;
}
