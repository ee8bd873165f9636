#include <string.h>

#include "group.h"

/* Segments on their way at once. */
enum { WINDOW = CHAIN_WINDOW };

struct chain {
    const struct group *group;
    const struct reduction *reduction;
    const char *send;
    char *result, *room;  /* the whole vector, on the root; else and for what arrives, WINDOW segments */
    int64_t count, piece; /* elements */
    const struct arrival *need;
    bool rolls;
    int segments, from, to;
    MPI_Request in[WINDOW], out[WINDOW];
};

static int64_t length(const struct chain *chain, int segment)
{
    int64_t left = chain->count - segment * chain->piece;
    return left < chain->piece ? left : chain->piece;
}

static char *room_at(const struct chain *chain, int segment)
{
    return chain->room + segment % WINDOW * chain->piece * chain->reduction->element;
}

/* Its room is that of the segment WINDOW before it, which must have left. */
static int receive(struct chain *chain, int segment)
{
    if (segment >= chain->segments)
        return MPI_SUCCESS;
    int error = fabric_wait(&chain->group->comm->fabric, 1, &chain->out[segment % WINDOW]);
    if (error != MPI_SUCCESS)
        return error;
    return fabric_start_receive(&chain->group->comm->fabric, room_at(chain, segment),
                                length(chain, segment) * chain->reduction->element, chain->from, chain->group->tag,
                                &chain->in[segment % WINDOW]);
}

static int pass_on(struct chain *chain, int segment)
{
    int64_t element = chain->reduction->element, count = length(chain, segment);
    /* The send from a place that is used again was waited for in receive(). */
    const char *own = chain->send + (chain->rolls ? segment % WINDOW : segment) * chain->piece * element, *out = own;
    char *there = chain->result == NULL ? NULL : chain->result + segment * chain->piece * element;
    int error = arrival_tell(chain->need, segment);
    if (error == MPI_SUCCESS)
        error = fabric_wait(&chain->group->comm->fabric, 1, &chain->in[segment % WINDOW]);
    if (error != MPI_SUCCESS)
        return error;
    if (chain->from >= 0) {
        char *room = chain->to < 0 ? there : room_at(chain, segment);
        chain->reduction->combine(chain->reduction, own, room_at(chain, segment), room, count);
        out = room;
    } else if (chain->to < 0 && there != own) {
        memcpy(there, own, (size_t)(count * element));
    }
    return fabric_start_send(&chain->group->comm->fabric, out, count * element, chain->to, chain->group->tag,
                             &chain->out[segment % WINDOW]);
}

int64_t group_chain_piece(int64_t count, const struct reduction *reduction, int64_t segment)
{
    int64_t piece = segment / reduction->element > 0 ? segment / reduction->element : 1;
    return piece < count ? piece : count;
}

/* From the last place down to the root, at place 0: each combines what it has, on the left, with what has come. */
int group_reduce_chain(const struct group *group, int root, const void *send, void *receive_at, int64_t count,
                       const struct reduction *reduction, int64_t segment, const struct arrival *need, bool rolls)
{
    int size = group->size, place = (group->me - root + size) % size, error = MPI_SUCCESS;
    struct chain chain = {.group = group,
                          .reduction = reduction,
                          .send = send,
                          .result = receive_at,
                          .count = count,
                          .piece = group_chain_piece(count, reduction, segment),
                          .need = need,
                          .from = -1,
                          .to = -1};
    chain.rolls = rolls && place > 0;
    if (count == 0)
        return MPI_SUCCESS;
    chain.segments = (int)((count + chain.piece - 1) / chain.piece);
    chain.room = coll_scratch(group->comm, group->scratch, WINDOW * chain.piece * reduction->element);
    if (chain.room == NULL)
        return MPI_ERR_NO_MEM;
    if (place + 1 < size)
        chain.from = group_rank(group, (group->me + 1) % size);
    if (place > 0)
        chain.to = group_rank(group, (group->me - 1 + size) % size);
    for (int i = 0; i < WINDOW; i++)
        chain.in[i] = chain.out[i] = MPI_REQUEST_NULL;
    /* One less than the window is posted ahead: the room of the next is that of the send before the one just started. */
    for (int i = 0; i < WINDOW - 1 && error == MPI_SUCCESS; i++)
        error = receive(&chain, i);
    for (int i = 0; i < chain.segments && error == MPI_SUCCESS; i++) {
        error = pass_on(&chain, i);
        if (error == MPI_SUCCESS)
            error = receive(&chain, i + WINDOW - 1);
    }
    return error == MPI_SUCCESS ? fabric_wait(&group->comm->fabric, WINDOW, chain.out) : error;
}
