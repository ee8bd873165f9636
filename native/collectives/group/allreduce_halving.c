#include <string.h>

#include "group.h"
#include "schedule.h"

/* What the partner of this exchange gets or has: the other half of what both had before. */
static struct span other_half(int64_t count, int number, int bit)
{
    return halved(count, number ^ bit, 2 * bit);
}

static int exchange(const struct group *group, int number, int bit, char *send, struct span out, char *receive,
                    struct span in, int64_t element)
{
    int partner = group_rank(group, unfold(group->size, number ^ bit));
    return fabric_exchange(&group->comm->fabric, send + out.from * element, (out.to - out.from) * element, partner,
                           receive, (in.to - in.from) * element, partner, group->tag);
}

/* Recursive halving, with the nearest first, so that whoever combines has a stretch of neighbours, in order; then the same
   way back. Rabenseifner: Optimization of collective reduction operations (2004). */
static int halve_and_double(const struct group *group, struct folding folding, char *data, char *other, int64_t count,
                            const struct reduction *reduction)
{
    int64_t element = reduction->element;
    int error = MPI_SUCCESS, number = folding.number;
    for (int bit = 1; bit < folding.power && error == MPI_SUCCESS; bit *= 2) {
        struct span mine = halved(count, number, 2 * bit), theirs = other_half(count, number, bit);
        error = exchange(group, number, bit, data, theirs, other, mine, element);
        char *here = data + mine.from * element;
        if (error == MPI_SUCCESS && (number & bit))
            reduction->combine(reduction, other, here, here, mine.to - mine.from);
        else if (error == MPI_SUCCESS)
            reduction->combine(reduction, here, other, here, mine.to - mine.from);
    }
    for (int bit = folding.power / 2; bit > 0 && error == MPI_SUCCESS; bit /= 2) {
        struct span mine = halved(count, number, 2 * bit), theirs = other_half(count, number, bit);
        error = exchange(group, number, bit, data, mine, data + theirs.from * element, theirs, element);
    }
    return error;
}

int group_allreduce_halving(const struct group *group, const void *send, void *receive, int64_t count,
                            const struct reduction *reduction)
{
    const struct fabric *fabric = &group->comm->fabric;
    int64_t bytes = count * reduction->element;
    struct folding folding = fold(group->size, group->me);
    int partner = folding.partner < 0 ? -1 : group_rank(group, folding.partner), error = MPI_SUCCESS;
    if (receive != send && bytes > 0)
        memcpy(receive, send, (size_t)bytes);
    if (folding.number < 0) {
        error = fabric_send(fabric, receive, bytes, partner, group->tag);
        return error == MPI_SUCCESS ? fabric_receive(fabric, receive, bytes, partner, group->tag) : error;
    }
    char *other = coll_scratch(group->comm, group->scratch, bytes);
    if (other == NULL && bytes > 0)
        return MPI_ERR_NO_MEM;
    if (partner >= 0) {
        error = fabric_receive(fabric, other, bytes, partner, group->tag);
        if (error == MPI_SUCCESS)
            reduction->combine(reduction, receive, other, receive, count);
    }
    if (error == MPI_SUCCESS)
        error = halve_and_double(group, folding, receive, other, count, reduction);
    return error == MPI_SUCCESS ? fabric_send(fabric, receive, bytes, partner, group->tag) : error;
}
