#include "postal_tree.h"

#include <string.h>

#include "cost.h"

double group_postal(const struct coll_comm *comm, int members, int64_t bytes, bool combines, struct postal *postal)
{
    const struct costs *costs = &comm->costs;
    const double each = (double)bytes * costs->fabric_byte + (combines ? cost_combine(comm, (double)bytes) : 0);
    const double first = costs->fabric_latency + each, more = costs->fabric_message + each;
    const double latency = first / more + 0.5;
    postal_set(postal, members, latency < POSTAL_MOST ? (int)latency : POSTAL_MOST);
    /* What goes to several children is on the sender's link at once, where each takes as long as two; what comes from several has
       had links of its own. */
    const double shared = combines || members < 3 ? 0 : each, step = (first + shared) / postal->latency;
    return postal->steps * (step > more + shared ? step : more + shared);
}

int group_bcast_postal(const struct group *group, int root, void *data, int64_t bytes)
{
    const struct fabric *fabric = &group->comm->fabric;
    const int size = group->size, place = (group->me - root + size) % size;
    struct postal postal;
    group_postal(group->comm, size, bytes, false, &postal);
    struct postal_place at = postal_place(&postal, place);
    int error = MPI_SUCCESS;
    if (at.parent >= 0)
        error = fabric_receive(fabric, data, bytes, group_rank(group, (at.parent + root) % size), group->tag);
    for (int given; (given = postal_given(&postal, at.members)) > 0 && error == MPI_SUCCESS; at.members -= given) {
        const int child = (place + at.members - given + root) % size;
        error = fabric_send(fabric, data, bytes, group_rank(group, child), group->tag);
    }
    return error;
}

/* What a member has combined goes to its parent; only at the base it stays, in `result`. `others` has room for a vector of every
   child: all are expected from the start, so that none waits for the ones before it. Those that follow the member come first, both
   in time and in the order of the members. */
static int combine_children(const struct group *group, const struct postal *postal, int base, const void *send,
                            char *result, char *others, int64_t count, const struct reduction *reduction)
{
    const struct fabric *fabric = &group->comm->fabric;
    const int size = group->size, place = (group->me - base + size) % size;
    const int64_t bytes = count * reduction->element;
    const struct postal_place at = postal_place(postal, place);
    const int children = postal_children(postal, at.members);
    MPI_Request requests[POSTAL_STEPS];
    int error = MPI_SUCCESS, started = 0;
    for (int i = 0; i < children; i++)
        requests[i] = MPI_REQUEST_NULL;
    for (int members = at.members, given; (given = postal_given(postal, members)) > 0 && error == MPI_SUCCESS;
         members -= given, started++) {
        const int child = (place + members - given + base) % size;
        error = fabric_start_receive(fabric, others + started * bytes, bytes, group_rank(group, child), group->tag,
                                     &requests[started]);
    }
    const void *mine = send;
    for (int i = children - 1; i >= 0 && error == MPI_SUCCESS; i--) {
        error = fabric_wait(fabric, 1, &requests[i]);
        if (error == MPI_SUCCESS)
            reduction->combine(reduction, mine, others + i * bytes, result, count);
        mine = result;
    }
    error = fabric_finish(fabric, error, children, requests);
    if (error != MPI_SUCCESS)
        return error;
    if (at.parent >= 0)
        return fabric_send(fabric, mine, bytes, group_rank(group, (at.parent + base) % size), group->tag);
    if (mine != result && bytes > 0)
        memcpy(result, mine, (size_t)bytes);
    return MPI_SUCCESS;
}

int group_reduce_postal(const struct group *group, int root, const void *send, void *receive, int64_t count,
                        const struct reduction *reduction)
{
    const struct fabric *fabric = &group->comm->fabric;
    const int64_t bytes = count * reduction->element;
    const int base = reduction->commutative ? root : 0, size = group->size;
    struct postal postal;
    group_postal(group->comm, size, bytes, true, &postal);
    const struct postal_place at = postal_place(&postal, (group->me - base + size) % size);
    const int children = postal_children(&postal, at.members);
    char *work = coll_scratch(group->comm, group->scratch, (children + 1) * bytes);
    if (work == NULL && bytes > 0)
        return MPI_ERR_NO_MEM;
    char *result = group->me == root && base == root ? receive : work;
    int error = combine_children(group, &postal, base, send, result, work + bytes, count, reduction);
    if (error != MPI_SUCCESS || base == root)
        return error;
    if (group->me == base)
        return fabric_send(fabric, work, bytes, group_rank(group, root), group->tag);
    if (group->me == root)
        return fabric_receive(fabric, receive, bytes, group_rank(group, base), group->tag);
    return MPI_SUCCESS;
}

int group_reduce_postal_vectors(const struct coll_comm *comm, int members, int64_t bytes)
{
    struct postal postal;
    group_postal(comm, members, bytes, true, &postal);
    return postal_children(&postal, members) + 1;
}
