#include <string.h>

#include "group.h"
#include "schedule.h"

static char *copy(char *to, const char *from, int64_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, (size_t)bytes);
    return to + bytes;
}

/* Bruck et al.: Efficient algorithms for all-to-all communications in multiport message-passing systems (1997). Blocks
   are kept by their distance from here to where they are going (at first) or have come from (in the end): one at distance
   d travels in the steps of the bits of d. */
int group_alltoall_bruck(const struct group *group, const void *send, void *receive, int64_t each)
{
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    int64_t all = size * each;
    char *work = coll_scratch(group->comm, group->scratch, 3 * all), *out = work + all, *in = out + all;
    if (work == NULL && all > 0)
        return MPI_ERR_NO_MEM;
    copy(copy(work, (const char *)send + me * each, (size - me) * each), send, me * each);
    for (int bit = 1; bit < size && error == MPI_SUCCESS; bit *= 2) {
        char *end = out;
        for (int distance = bit; distance < size; distance++)
            if (bruck_travels(distance, bit))
                end = copy(end, work + distance * each, each);
        error = fabric_exchange(&group->comm->fabric, out, end - out, group_rank(group, (me + bit) % size), in,
                                end - out, group_rank(group, (me - bit + size) % size), group->tag);
        const char *from = in;
        for (int distance = bit; distance < size; distance++)
            if (bruck_travels(distance, bit)) {
                copy(work + distance * each, from, each);
                from += each;
            }
    }
    for (int distance = 0; distance < size; distance++)
        copy((char *)receive + (me - distance + size) % size * each, work + distance * each, each);
    return error;
}
