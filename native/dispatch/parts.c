#include "parts.h"

#include "device.h"
#include "pack.h"
#include "reserve.h"

static void make_side(struct part_side *side, int64_t *memory, int ranks)
{
    side->counts = memory;
    side->places = memory + ranks;
    side->bytes = memory + 2 * (int64_t)ranks;
    side->at = memory + 3 * (int64_t)ranks;
}

struct parts *parts_new(int ranks)
{
    struct parts *parts = reserve_get(sizeof *parts + 8 * (size_t)ranks * sizeof(int64_t));
    int64_t *memory = (int64_t *)(void *)(parts + 1);
    *parts = (struct parts){.ranks = ranks};
    make_side(&parts->out, memory, ranks);
    make_side(&parts->in, memory + 4 * (int64_t)ranks, ranks);
    return parts;
}

static void free_side(struct part_side *side)
{
    if (side->is_own)
        PMPI_Type_free(&side->type);
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

static bool look_at(struct part_side *side, const void *data, MPI_Datatype type)
{
    side->data = (char *)(uintptr_t)data;
    side->type = type;
    if (data == MPI_IN_PLACE || !types_layout(type, &side->layout))
        return false;
    side->layout.contiguous = side->layout.contiguous && !device_is(data, data);
    return true;
}

static bool add(const struct part_side *side, int rank, int64_t count, int64_t place)
{
    side->counts[rank] = count;
    side->places[rank] = place;
    side->bytes[rank] = types_bytes((MPI_Count)count, &side->layout);
    return side->bytes[rank] >= 0;
}

bool parts_all(const struct parts *parts, struct part_side *side, const void *data, const struct dispatch_vector *given,
               MPI_Datatype type)
{
    bool good = vectors_given(given) && look_at(side, data, type);
    const struct blocks blocks = {.given = given, .type = type, .layout = side->layout};
    for (int rank = 0; rank < parts->ranks && good; rank++)
        good = add(side, rank, vectors_count(&blocks, rank), vectors_place(&blocks, rank));
    return good;
}

bool parts_one(struct part_side *side, int rank, const void *data, MPI_Count count, MPI_Datatype type)
{
    return look_at(side, data, type) && add(side, rank, (int64_t)count, 0);
}

int64_t parts_longest(const struct parts *parts)
{
    int64_t longest = 0;
    for (int i = 0; i < parts->ranks; i++) {
        longest = parts->out.bytes[i] > longest ? parts->out.bytes[i] : longest;
        longest = parts->in.bytes[i] > longest ? parts->in.bytes[i] : longest;
    }
    return longest;
}

int64_t parts_total(const struct parts *parts, const struct part_side *side)
{
    int64_t total = 0;
    for (int i = 0; i < parts->ranks; i++)
        if (__builtin_add_overflow(total, side->bytes[i], &total))
            return -1;
    return total;
}

/* With a type of ours where it is packed, or unpacked, when the program may have freed its own. */
static int own_type(struct part_side *side)
{
    MPI_Datatype made;
    int error = PMPI_Type_contiguous(1, side->type, &made);
    if (error != MPI_SUCCESS)
        return error;
    side->type = made;
    side->is_own = true;
    return PMPI_Type_commit(&side->type);
}

static int arrange(struct part_side *side, int ranks, int64_t piece, bool owns)
{
    int64_t total = 0;
    const bool packs = !side->layout.contiguous;
    for (int i = 0; i < ranks; i++) {
        side->bytes[i] = side->bytes[i] <= piece ? side->bytes[i] : 0;
        side->at[i] = packs ? total : side->places[i];
        total += side->bytes[i];
    }
    if (!packs || total == 0)
        return MPI_SUCCESS;
    side->room = reserve_get((size_t)total);
    return owns ? own_type(side) : MPI_SUCCESS;
}

int parts_arrange(struct parts *parts, struct call *call, int rank, bool again)
{
    struct part_side *out = &parts->out, *in = &parts->in;
    int error = arrange(out, parts->ranks, call->piece, again);
    if (error == MPI_SUCCESS)
        error = arrange(in, parts->ranks, call->piece, true);
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
    for (int i = 0; i < parts->ranks && out->room != NULL && error == MPI_SUCCESS; i++)
        if (out->bytes[i] > 0)
            error =
                pack(out->data + out->places[i], out->counts[i], out->type, &out->layout, out->room + out->at[i], comm);
    return error;
}

int parts_unpack(const struct parts *parts, MPI_Comm comm)
{
    const struct part_side *in = &parts->in;
    int error = MPI_SUCCESS;
    for (int i = 0; i < parts->ranks && in->room != NULL && error == MPI_SUCCESS; i++)
        if (in->bytes[i] > 0)
            error = unpack(in->room + in->at[i], in->data + in->places[i], in->counts[i], in->type, &in->layout, comm);
    return error;
}

void parts_given(struct parts *parts)
{
    reserve_put(parts->out.room);
    parts->out.room = NULL;
}

/* Whether its block goes in a message. */
static bool is_message(const struct part_side *side, int rank)
{
    return side->bytes[rank] == 0 && side->counts[rank] > 0 && side->layout.size > 0;
}

static int count_messages(const struct parts *parts)
{
    int count = 0;
    for (int i = 0; i < parts->ranks; i++)
        count += is_message(&parts->out, i) + is_message(&parts->in, i);
    return count;
}

static int begin(struct parts *parts, const struct part_side *side, const struct fabric *fabric, const int *world,
                 bool sends)
{
    int error = MPI_SUCCESS;
    for (int i = 0; i < parts->ranks && error == MPI_SUCCESS; i++)
        if (is_message(side, i))
            error =
                fabric_begin(fabric, side->data + side->places[i], (MPI_Count)side->counts[i], side->type,
                             world != NULL ? world[i] : i, FABRIC_LATER, sends, &parts->message[parts->under_way++]);
    return error;
}

int parts_send(struct parts *parts, const struct fabric *fabric, const int *world)
{
    const int count = count_messages(parts);
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
