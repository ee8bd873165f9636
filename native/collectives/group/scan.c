#include <string.h>

#include "group.h"

/* What `partial` holds goes to the member `distance` above, and what comes from the one below is in front of it. Everybody
 * then has the elements of twice as many members, the last of them its own: in order, whatever the operation. */
static int inclusive(const struct group *group, char *partial, char *other, int64_t count,
                     const struct reduction *reduction)
{
    const int64_t bytes = count * reduction->element;
    int error = MPI_SUCCESS;
    for (int distance = 1; distance < group->size && error == MPI_SUCCESS; distance *= 2) {
        const int to = group->me + distance < group->size ? group_rank(group, group->me + distance) : -1;
        const int from = group->me >= distance ? group_rank(group, group->me - distance) : -1;
        error = fabric_exchange(&group->comm->fabric, partial, bytes, to, other, bytes, from, group->tag);
        if (error == MPI_SUCCESS && from >= 0)
            reduction->combine(reduction, other, partial, partial, count);
    }
    return error;
}

/* What comes is kept apart from what goes on: the result lacks this member's own elements. */
static int exclusive(const struct group *group, char *partial, char *other, char *receive, int64_t count,
                     const struct reduction *reduction)
{
    const int64_t bytes = count * reduction->element;
    int error = MPI_SUCCESS;
    for (int distance = 1; distance < group->size && error == MPI_SUCCESS; distance *= 2) {
        const int to = group->me + distance < group->size ? group_rank(group, group->me + distance) : -1;
        const int from = group->me >= distance ? group_rank(group, group->me - distance) : -1;
        error = fabric_exchange(&group->comm->fabric, partial, bytes, to, other, bytes, from, group->tag);
        if (error != MPI_SUCCESS || from < 0)
            continue;
        if (distance == 1)
            memcpy(receive, other, (size_t)bytes);
        else
            reduction->combine(reduction, other, receive, receive, count);
        if (group->me + 2 * distance < group->size)
            reduction->combine(reduction, other, partial, partial, count);
    }
    return error;
}

int group_scan(const struct group *group, const void *send, void *receive, int64_t count,
               const struct reduction *reduction, bool is_exclusive)
{
    const int64_t bytes = count * reduction->element;
    char *room = coll_scratch(group->comm, group->scratch, (is_exclusive ? 2 : 1) * bytes + 1);
    if (room == NULL)
        return MPI_ERR_NO_MEM;
    if (is_exclusive) {
        memcpy(room + bytes, send, (size_t)bytes);
        return exclusive(group, room + bytes, room, receive, count, reduction);
    }
    if (receive != send)
        memcpy(receive, send, (size_t)bytes);
    return inclusive(group, receive, room, count, reduction);
}
