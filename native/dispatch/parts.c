#include "parts.h"

#include "device.h"
#include "pack.h"
#include "reserve.h"

/* What the arrays of so many blocks take, in one piece of memory: what is longest comes first. */
static size_t bytes_of(int count, bool has_types)
{
    const size_t each = 4 * sizeof(int64_t) + (has_types ? sizeof(struct layout) + sizeof(MPI_Datatype) : 0);
    return ((size_t)count * each + sizeof(int64_t) - 1) / sizeof(int64_t) * sizeof(int64_t);
}

static void make_side(struct part_side *side, void *memory, int count, bool has_types)
{
    side->count = count;
    side->counts = memory;
    side->places = side->counts + count;
    side->bytes = side->places + count;
    side->at = side->bytes + count;
    if (!has_types)
        return;
    side->layouts = (struct layout *)(void *)(side->at + count);
    side->types = (MPI_Datatype *)(void *)(side->layouts + count);
}

/* `spare`: ints behind the arrays. */
static struct parts *make(int out, int in, bool has_types, int **spare, int spares)
{
    const size_t outs = bytes_of(out, has_types), ins = bytes_of(in, has_types);
    struct parts *parts = reserve_get(sizeof *parts + outs + ins + (size_t)spares * sizeof(int));
    char *memory = (char *)(parts + 1);
    make_side(&parts->out, memory, out, has_types);
    make_side(&parts->in, memory + outs, in, has_types);
    *spare = (int *)(void *)(memory + outs + ins);
    return parts;
}

struct parts *parts_new(int ranks, bool has_types)
{
    int *none;
    return make(ranks, ranks, has_types, &none, 0);
}

struct parts *parts_near(const struct neighbours *near, bool has_types)
{
    const int targets = near->targets, sources = near->sources;
    int *lists;
    struct parts *parts = make(targets, sources, has_types, &lists, targets + sources);
    for (int i = 0; i < targets; i++)
        lists[i] = near->target[i];
    for (int i = 0; i < sources; i++)
        lists[targets + i] = near->source[i];
    parts->near =
        (struct neighbours){.targets = targets, .sources = sources, .target = lists, .source = lists + targets};
    parts->out.rank = parts->near.target;
    parts->in.rank = parts->near.source;
    return parts;
}

static void free_side(struct part_side *side)
{
    for (int i = 0; i < side->mades; i++)
        PMPI_Type_free(&side->made[i]);
    reserve_put(side->made);
    reserve_put(side->room);
}

void parts_free(struct parts *parts)
{
    if (parts == NULL)
        return;
    free_side(&parts->out);
    free_side(&parts->in);
    reserve_put(parts->message);
    reserve_put(parts);
}

static MPI_Datatype type_of(const struct part_side *side, int block)
{
    return side->types != NULL ? side->types[block] : side->type;
}

static const struct layout *layout_of(const struct part_side *side, int block)
{
    return side->layouts != NULL ? &side->layouts[block] : &side->layout;
}

static bool look_at(const struct part_side *side, MPI_Datatype type, struct layout *layout)
{
    if (!types_layout(type, layout))
        return false;
    layout->contiguous = layout->contiguous && !device_is(side->data, side->data);
    return true;
}

static bool has_gaps(const struct part_side *side)
{
    bool any = side->layouts == NULL && side->count > 0 && !side->layout.contiguous;
    for (int i = 0; i < side->count && side->layouts != NULL && !any; i++)
        any = !side->layouts[i].contiguous;
    return any;
}

static bool add(const struct part_side *side, int block, int64_t count, int64_t place)
{
    side->counts[block] = count;
    side->places[block] = place;
    side->bytes[block] = types_bytes((MPI_Count)count, layout_of(side, block));
    return side->bytes[block] >= 0;
}

/* Of one that has a type of its own; what nothing is sent with may be no type. */
static bool look_at_block(const struct part_side *side, const struct blocks *blocks, int block)
{
    const struct dispatch_vector *given = blocks->given;
    side->types[block] = MPI_DATATYPE_NULL;
    side->layouts[block] = (struct layout){.contiguous = true};
    if (vectors_count(blocks, block) == 0)
        return true;
    if (given->types == NULL && given->fortran_types == NULL)
        return false;
    side->types[block] = vectors_type(blocks, block);
    return look_at(side, side->types[block], &side->layouts[block]);
}

bool parts_all(struct part_side *side, const void *data, const struct dispatch_vector *given, MPI_Datatype type)
{
    side->data = (char *)(uintptr_t)data;
    side->type = type;
    if (side->count == 0)
        return true;
    if (data == MPI_IN_PLACE || !vectors_given(given) || (side->types == NULL && !look_at(side, type, &side->layout)))
        return false;
    const struct blocks blocks = {.given = given, .type = type, .layout = side->layout, .layouts = side->layouts};
    bool good = true;
    for (int i = 0; i < side->count && good; i++)
        good = (side->types == NULL || look_at_block(side, &blocks, i)) &&
               add(side, i, vectors_count(&blocks, i), vectors_place(&blocks, i));
    return good;
}

bool parts_one(struct part_side *side, int rank, const void *data, MPI_Count count, MPI_Datatype type)
{
    side->data = (char *)(uintptr_t)data;
    side->type = type;
    return data != MPI_IN_PLACE && look_at(side, type, &side->layout) && add(side, rank, (int64_t)count, 0);
}

static int64_t longest_of(const struct part_side *side)
{
    int64_t longest = 0;
    for (int i = 0; i < side->count; i++)
        longest = side->bytes[i] > longest ? side->bytes[i] : longest;
    return longest;
}

int64_t parts_longest(const struct parts *parts)
{
    const int64_t out = longest_of(&parts->out), in = longest_of(&parts->in);
    return out > in ? out : in;
}

int64_t parts_total(const struct part_side *side)
{
    int64_t total = 0;
    for (int i = 0; i < side->count; i++)
        if (__builtin_add_overflow(total, side->bytes[i], &total))
            return -1;
    return total;
}

static int own(struct part_side *side, MPI_Datatype type)
{
    MPI_Datatype *made = &side->made[side->mades];
    int error = PMPI_Type_contiguous(1, type, made);
    side->mades += error == MPI_SUCCESS;
    return error == MPI_SUCCESS ? PMPI_Type_commit(made) : error;
}

/* With types of ours where it is packed, or unpacked, when the program may have freed its own. Neighbours often have the same. */
static int own_types(struct part_side *side)
{
    const int types = side->types != NULL ? side->count : 1;
    MPI_Datatype before = MPI_DATATYPE_NULL;
    int error = MPI_SUCCESS;
    side->made = reserve_get((size_t)types * sizeof *side->made);
    if (side->types == NULL) {
        error = own(side, side->type);
        side->type = error == MPI_SUCCESS ? side->made[0] : side->type;
    }
    for (int i = 0; i < side->count && side->types != NULL && error == MPI_SUCCESS; i++) {
        if (side->bytes[i] == 0 || side->layouts[i].contiguous)
            continue;
        if (side->mades == 0 || side->types[i] != before)
            error = own(side, before = side->types[i]);
        if (error == MPI_SUCCESS)
            side->types[i] = side->made[side->mades - 1];
    }
    return error;
}

static int arrange(struct part_side *side, int64_t piece, bool owns)
{
    int64_t total = 0, first = -1;
    const bool packs = has_gaps(side);
    for (int i = 0; i < side->count; i++) {
        side->bytes[i] = side->bytes[i] <= piece ? side->bytes[i] : 0;
        side->at[i] = !packs ? side->places[i] : side->is_one && first >= 0 ? first : total;
        if (side->bytes[i] == 0 || (side->is_one && first >= 0))
            continue;
        first = side->at[i];
        total += side->bytes[i];
    }
    if (!packs || total == 0)
        return MPI_SUCCESS;
    side->room = reserve_get((size_t)total);
    return owns ? own_types(side) : MPI_SUCCESS;
}

int parts_arrange(struct parts *parts, struct call *call, int rank, bool again)
{
    struct part_side *out = &parts->out, *in = &parts->in;
    int error = arrange(out, call->piece, again);
    if (error == MPI_SUCCESS)
        error = arrange(in, call->piece, true);
    char *send = out->room != NULL ? out->room : out->data, *receive = in->room != NULL ? in->room : in->data;
    call->send_bytes = out->bytes, call->send_at = out->at;
    call->receive_bytes = in->bytes, call->receive_at = in->at;
    if (call->collective == COLL_IALLGATHERV || call->collective == COLL_IGATHERV) {
        const int to = call->collective == COLL_IGATHERV ? call->root : rank;
        call->own = out->bytes[to];
        send = call->own > 0 ? send + out->at[to] : NULL;
    } else if (call->collective == COLL_ISCATTERV) {
        call->own = in->bytes[call->root];
        receive = call->own > 0 ? receive + in->at[call->root] : NULL;
    }
    call->send = send;
    call->receive = receive;
    return error;
}

int parts_pack(const struct parts *parts, MPI_Comm comm)
{
    const struct part_side *out = &parts->out;
    int error = MPI_SUCCESS;
    bool any = false;
    for (int i = 0; i < out->count && out->room != NULL && error == MPI_SUCCESS; i++) {
        if (out->bytes[i] == 0 || (out->is_one && any))
            continue;
        any = true;
        error = pack(out->data + out->places[i], out->counts[i], type_of(out, i), layout_of(out, i),
                     out->room + out->at[i], comm);
    }
    return error;
}

int parts_unpack(const struct parts *parts, MPI_Comm comm)
{
    const struct part_side *in = &parts->in;
    int error = MPI_SUCCESS;
    for (int i = 0; i < in->count && in->room != NULL && error == MPI_SUCCESS; i++)
        if (in->bytes[i] > 0)
            error = unpack(in->room + in->at[i], in->data + in->places[i], in->counts[i], type_of(in, i),
                           layout_of(in, i), comm);
    return error;
}

void parts_given(struct parts *parts)
{
    reserve_put(parts->out.room);
    parts->out.room = NULL;
}

/* Whether its block goes in a message. */
static bool is_message(const struct part_side *side, int block)
{
    return side->bytes[block] == 0 && side->counts[block] > 0 && layout_of(side, block)->size > 0;
}

static int count_messages(const struct part_side *side)
{
    int count = 0;
    for (int i = 0; i < side->count; i++)
        count += is_message(side, i);
    return count;
}

static int begin(struct parts *parts, const struct part_side *side, const struct fabric *fabric, const int *world,
                 bool sends)
{
    int error = MPI_SUCCESS;
    for (int i = 0; i < side->count && error == MPI_SUCCESS; i++) {
        const int rank = side->rank != NULL ? side->rank[i] : i;
        if (is_message(side, i))
            error = fabric_begin(fabric, side->data + side->places[i], (MPI_Count)side->counts[i], type_of(side, i),
                                 world != NULL ? world[rank] : rank, FABRIC_LATER, sends,
                                 &parts->message[parts->under_way++]);
    }
    return error;
}

int parts_send(struct parts *parts, const struct fabric *fabric, const int *world)
{
    const int count = count_messages(&parts->out) + count_messages(&parts->in);
    if (count == 0)
        return MPI_SUCCESS;
    parts->message = reserve_get((size_t)count * sizeof *parts->message);
    int error = begin(parts, &parts->in, fabric, world, false);
    return error == MPI_SUCCESS ? begin(parts, &parts->out, fabric, world, true) : error;
}

bool parts_are_through(struct parts *parts, int *error)
{
    int left = 0;
    for (int i = 0; i < parts->under_way; i++) {
        int done = true, failed = MPI_SUCCESS;
        MPI_Request request = parts->message[i];
        if (request != MPI_REQUEST_NULL)
            failed = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        *error = *error == MPI_SUCCESS ? failed : *error;
        if (!done && failed == MPI_SUCCESS)
            parts->message[left++] = request;
    }
    parts->under_way = left;
    return left == 0;
}

void parts_abandon(struct parts *parts, int error)
{
    while (parts->under_way > 0) {
        MPI_Request *request = &parts->message[--parts->under_way];
        if (*request != MPI_REQUEST_NULL)
            fabric_abandon(request, error);
    }
}
