#include <string.h>

#include "group.h"
#include "schedule.h"

/* Recursive doubling. Members beyond a power of two are taken in by a neighbour first and get the result last, so that
   whoever combines has a stretch of neighbours, in order. Rabenseifner, Traff: More efficient reduction algorithms for
   non-power-of-two number of processors in message-passing parallel systems (2004). */
int group_allreduce_doubling(const struct group *group, const void *send, void *receive, int64_t count,
                             const struct reduction *reduction)
{
    const struct fabric *fabric = &group->comm->fabric;
    int64_t bytes = count * reduction->element;
    struct folding folding = fold(group->size, group->me);
    int error = MPI_SUCCESS;
    if (receive != send && bytes > 0)
        memcpy(receive, send, (size_t)bytes);
    if (folding.partner >= 0 && folding.number < 0) {
        int partner = group_rank(group, folding.partner);
        error = fabric_send(fabric, receive, bytes, partner, group->tag);
        return error == MPI_SUCCESS ? fabric_receive(fabric, receive, bytes, partner, group->tag) : error;
    }
    char *other = coll_scratch(group->comm, group->scratch, bytes);
    if (other == NULL && bytes > 0)
        return MPI_ERR_NO_MEM;
    if (folding.partner >= 0) {
        error = fabric_receive(fabric, other, bytes, group_rank(group, folding.partner), group->tag);
        if (error == MPI_SUCCESS)
            reduction->combine(reduction, receive, other, receive, count);
    }
    for (int bit = 1; bit < folding.power && error == MPI_SUCCESS; bit *= 2) {
        int partner = group_rank(group, unfold(group->size, folding.number ^ bit));
        error = fabric_exchange(fabric, receive, bytes, partner, other, bytes, partner, group->tag);
        if (error != MPI_SUCCESS)
            break;
        if (folding.number & bit)
            reduction->combine(reduction, other, receive, receive, count);
        else
            reduction->combine(reduction, receive, other, receive, count);
    }
    if (error == MPI_SUCCESS && folding.partner >= 0)
        error = fabric_send(fabric, receive, bytes, group_rank(group, folding.partner), group->tag);
    return error;
}
