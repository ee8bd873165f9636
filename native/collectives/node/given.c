#include "given.h"

#include <string.h>

static void copy(void *to, const void *from, int64_t bytes)
{
    if (to != from)
        memcpy(to, from, (size_t)bytes);
}

/* What is nothing may be nowhere. */
static void copy_some(void *to, const void *from, int64_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, (size_t)bytes);
}

/* Of an ineighbor_*: where in what a rank gives the block for a neighbour is. One after the other, then the blocks. */
struct entry {
    int32_t rank, at;
};

int64_t given_bytes(const struct call *call, int ranks)
{
    if (collective_is_near_later(call->collective))
        return call->most * ((int64_t)sizeof(struct entry) + call->piece);
    switch (call->collective) {
    case COLL_IALLTOALL:
    case COLL_ISCATTER:
    case COLL_IREDUCE_SCATTER_BLOCK: return call->bytes * ranks;
    case COLL_IALLTOALLV:
    case COLL_IALLTOALLW:
    case COLL_ISCATTERV: return call->piece * ranks;
    case COLL_IALLGATHERV:
    case COLL_IGATHERV: return call->piece;
    default: return call->bytes;
    }
}

static bool is_nothing(const struct call *call, int rank)
{
    switch (call->collective) {
    case COLL_IBARRIER: return true;
    case COLL_IBCAST:
    case COLL_ISCATTER:
    case COLL_ISCATTERV: return rank != call->root;
    case COLL_IGATHER: return rank == call->root;
    default: return false;
    }
}

int64_t given_room(const struct call *call, int64_t bytes)
{
    const int64_t one = bytes / (call->most > 0 ? call->most : 1) - (int64_t)sizeof(struct entry);
    return one > 0 ? one : 0;
}

/* How many bytes this rank gives: entries, then blocks, of which those of an allgather are one. `to`: where they are put; NULL: nowhere. */
static int64_t lay_out(const struct call *call, unsigned char *to)
{
    const struct neighbours *around = call->around;
    const char *send = call->send;
    int64_t end = around->targets * (int64_t)sizeof(struct entry), at = end;
    for (int i = 0, last = -1; i < around->targets; i++) {
        const int64_t bytes = call->send_bytes[i];
        const bool again = last >= 0 && call->send_at[i] == call->send_at[last] && bytes == call->send_bytes[last];
        if (bytes > 0 && !again) {
            at = end, end += bytes, last = i;
            if (to != NULL)
                memcpy(to + at, send + call->send_at[i], (size_t)bytes);
        }
        const struct entry entry = {around->target[i], (int32_t)at};
        if (to != NULL)
            memcpy(to + i * (int64_t)sizeof entry, &entry, sizeof entry);
    }
    return end;
}

int64_t given_own(const struct call *call)
{
    return lay_out(call, NULL);
}

/* Who sends to this rank has it among its own. A program whose two ranks do not mean the same length reads no further than what one may
 * give. */
void given_take_from(const struct call *call, int rank, int which, const unsigned char *given)
{
    const int64_t bytes = call->receive_bytes[which];
    struct entry entry = {-1, 0};
    if (bytes == 0)
        return;
    for (int64_t i = 0; i < call->most && entry.rank != rank; i++)
        memcpy(&entry, given + i * (int64_t)sizeof entry, sizeof entry);
    if (entry.rank == rank && entry.at + bytes <= given_bytes(call, 0))
        memcpy((char *)call->receive + call->receive_at[which], given + entry.at, (size_t)bytes);
}

static void take_near(const struct call *call, int rank, const unsigned char *first, int64_t apart)
{
    const struct neighbours *around = call->around;
    for (int i = 0; i < around->sources; i++)
        if (around->source[i] >= 0)
            given_take_from(call, rank, i, first + around->source[i] * apart);
}

void given_put(const struct call *call, int rank, int ranks, unsigned char *to)
{
    const char *send = call->send;
    if (collective_is_near_later(call->collective)) {
        lay_out(call, to);
        return;
    }
    if (is_nothing(call, rank))
        return;
    switch (call->collective) {
    case COLL_IALLGATHERV:
    case COLL_IGATHERV: copy_some(to, send, call->own); break;
    case COLL_IALLTOALLV:
    case COLL_IALLTOALLW:
    case COLL_ISCATTERV:
        for (int i = 0; i < ranks; i++)
            copy_some(to + i * call->piece, send + call->send_at[i], call->send_bytes[i]);
        break;
    default: memcpy(to, send, (size_t)given_bytes(call, ranks)); break;
    }
}

void given_to_self(const struct call *call, int rank)
{
    if (rank == call->root && call->collective == COLL_IGATHER)
        copy((char *)call->receive + rank * call->bytes, call->send, call->bytes);
    if (rank == call->root && call->collective == COLL_ISCATTER && call->receive != NULL)
        copy(call->receive, (const char *)call->send + rank * call->bytes, call->bytes);
}

void given_expected(const struct call *call, int rank, int ranks, int *from, int *until)
{
    *from = 0, *until = collective_is_near_later(call->collective) ? call->around->sources : ranks;
    switch (call->collective) {
    case COLL_IBCAST:
    case COLL_ISCATTER: *from = call->root, *until = rank == call->root ? call->root : call->root + 1; break;
    case COLL_ISCATTERV: *from = call->root, *until = call->root + 1; break;
    case COLL_IGATHER:
    case COLL_IGATHERV:
    case COLL_IREDUCE: *until = rank == call->root ? ranks : 0; break;
    case COLL_ISCAN: *until = rank + 1; break;
    case COLL_IEXSCAN: *until = rank; break;
    default: break;
    }
}

int given_giver(const struct call *call, int which)
{
    return collective_is_near_later(call->collective) ? call->around->source[which] : which;
}

int given_reader(const struct call *call, int which)
{
    return collective_is_near_later(call->collective) ? call->around->target[which] : which;
}

/* Of the ranks from 0 to below `until`, from `skip` bytes on in what each has given. */
static void combine(const struct call *call, int until, int64_t skip, const unsigned char *first, int64_t apart)
{
    first += skip;
    if (until == 1)
        memcpy(call->receive, first, (size_t)call->bytes);
    for (int i = 1; i < until; i++)
        call->reduction.combine(&call->reduction, i == 1 ? first : call->receive, first + i * apart, call->receive,
                                call->count);
}

void given_take(const struct call *call, int rank, int ranks, const unsigned char *first, int64_t apart)
{
    const int64_t bytes = call->bytes;
    char *receive = call->receive;
    int from, until;
    if (collective_is_near_later(call->collective)) {
        take_near(call, rank, first, apart);
        return;
    }
    given_expected(call, rank, ranks, &from, &until);
    switch (call->collective) {
    case COLL_IBCAST:
        if (rank != call->root)
            memcpy(receive, first + from * apart, (size_t)bytes);
        break;
    case COLL_ISCATTER:
        if (rank != call->root)
            memcpy(receive, first + from * apart + rank * bytes, (size_t)bytes);
        break;
    case COLL_IGATHER:
        for (int i = 0; i < until; i++)
            if (i != rank)
                memcpy(receive + i * bytes, first + i * apart, (size_t)bytes);
        break;
    case COLL_IALLGATHER:
        for (int i = 0; i < ranks; i++)
            memcpy(receive + i * bytes, first + i * apart, (size_t)bytes);
        break;
    case COLL_IALLTOALL:
        for (int i = 0; i < ranks; i++)
            memcpy(receive + i * bytes, first + i * apart + rank * bytes, (size_t)bytes);
        break;
    case COLL_ISCATTERV: copy_some(receive, first + from * apart + rank * call->piece, call->own); break;
    case COLL_IALLGATHERV:
    case COLL_IGATHERV:
        for (int i = 0; i < until; i++)
            copy_some(receive + call->receive_at[i], first + i * apart, call->receive_bytes[i]);
        break;
    case COLL_IALLTOALLV:
    case COLL_IALLTOALLW:
        for (int i = 0; i < ranks; i++)
            copy_some(receive + call->receive_at[i], first + i * apart + rank * call->piece, call->receive_bytes[i]);
        break;
    case COLL_IREDUCE_SCATTER:
        if (call->own > 0)
            combine(call, ranks, call->own_at, first, apart);
        break;
    case COLL_IREDUCE_SCATTER_BLOCK: combine(call, ranks, rank * bytes, first, apart); break;
    case COLL_IREDUCE:
    case COLL_IALLREDUCE:
    case COLL_ISCAN:
    case COLL_IEXSCAN: combine(call, until, 0, first, apart); break;
    default: break;
    }
}
