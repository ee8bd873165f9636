#include <stdlib.h>

#include "group.h"
#include "schedule.h"

/* What a member that takes part has under way: a message for each block, so that none has to be packed. */
struct far {
    const struct group *group;
    const struct blocks *blocks;
    char *data;
    int count;
    MPI_Request *requests;
};

/* All blocks of the members for which a number answers, with one partner. */
static int start(struct far *far, int number, int partner, bool sends)
{
    const struct fabric *fabric = &far->group->comm->fabric;
    int size = far->group->size, error = MPI_SUCCESS;
    int last = number + 1 < power_below(size) ? folded_first(size, number + 1) : size;
    for (int member = folded_first(size, number); member < last && error == MPI_SUCCESS; member++) {
        char *at = far->data + blocks_at(far->blocks, member);
        int64_t bytes = blocks_bytes(far->blocks, member);
        MPI_Request *request = &far->requests[far->count++];
        error = sends ? fabric_start_send(fabric, at, bytes, partner, far->group->tag, request)
                      : fabric_start_receive(fabric, at, bytes, partner, far->group->tag, request);
    }
    return error;
}

static int finish(struct far *far, int error)
{
    int waited = fabric_wait(&far->group->comm->fabric, far->count, far->requests);
    far->count = 0;
    return error == MPI_SUCCESS ? waited : error;
}

/* The farthest first: a number then has the blocks of all that are like it in the lower bits. */
static int exchange(struct far *far, int number)
{
    const int size = far->group->size, power = power_below(size);
    int error = MPI_SUCCESS;
    for (int bit = power / 2; bit > 0 && error == MPI_SUCCESS; bit /= 2) {
        int partner = group_rank(far->group, unfold(size, number ^ bit));
        for (int other = (number ^ bit) & (2 * bit - 1); other < power && error == MPI_SUCCESS; other += 2 * bit)
            error = start(far, other, partner, false);
        for (int own = number & (2 * bit - 1); own < power && error == MPI_SUCCESS; own += 2 * bit)
            error = start(far, own, partner, true);
        error = finish(far, error);
    }
    return error;
}

/* One that is beyond a power of two has given its block before, and gets all others in the end. */
static int all_others(struct far *far, int but, int partner, bool sends)
{
    const struct fabric *fabric = &far->group->comm->fabric;
    int error = MPI_SUCCESS;
    for (int member = 0; member < far->group->size && error == MPI_SUCCESS; member++) {
        char *at = far->data + blocks_at(far->blocks, member);
        int64_t bytes = member == but ? 0 : blocks_bytes(far->blocks, member);
        MPI_Request *request = &far->requests[far->count++];
        error = sends ? fabric_start_send(fabric, at, bytes, partner, far->group->tag, request)
                      : fabric_start_receive(fabric, at, bytes, partner, far->group->tag, request);
    }
    return finish(far, error);
}

static int run(struct far *far, struct folding folding)
{
    const struct group *group = far->group;
    const struct fabric *fabric = &group->comm->fabric;
    int partner = folding.partner < 0 ? -1 : group_rank(group, folding.partner), error = MPI_SUCCESS;
    int beyond = folding.number < 0 ? group->me : folding.partner; /* of the two */
    if (partner >= 0) {
        char *at = far->data + blocks_at(far->blocks, beyond);
        int64_t bytes = blocks_bytes(far->blocks, beyond);
        error = folding.number < 0 ? fabric_send(fabric, at, bytes, partner, group->tag)
                                   : fabric_receive(fabric, at, bytes, partner, group->tag);
    }
    if (error == MPI_SUCCESS && folding.number >= 0)
        error = exchange(far, folding.number);
    return error == MPI_SUCCESS && partner >= 0 ? all_others(far, beyond, partner, folding.number >= 0) : error;
}

int group_allgather_far(const struct group *group, void *data, const struct blocks *blocks)
{
    struct far far = {.group = group, .blocks = blocks, .data = data};
    far.requests = malloc(2 * (size_t)group->size * sizeof *far.requests);
    if (far.requests == NULL)
        return MPI_ERR_NO_MEM;
    int error = run(&far, fold(group->size, group->me));
    free(far.requests);
    return error;
}
