#include <string.h>

#include "group.h"
#include "schedule.h"

/* Once around the ring to combine, once more to hand out: each part is combined along one way, the same for all who get
   it. Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations (2009). */
int group_allreduce_ring(const struct group *group, const void *send, void *receive, int64_t count,
                         const struct reduction *reduction)
{
    const struct fabric *fabric = &group->comm->fabric;
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    int64_t element = reduction->element, bytes = count * element;
    char *other = coll_scratch(group->comm, group->scratch, (count / size + 1) * element), *data = receive;
    if (other == NULL)
        return MPI_ERR_NO_MEM;
    if (receive != send && bytes > 0)
        memcpy(receive, send, (size_t)bytes);
    int right = group_rank(group, (me + 1) % size), left = group_rank(group, (me - 1 + size) % size);
    for (int step = 0; step < 2 * (size - 1) && error == MPI_SUCCESS; step++) {
        bool combines = step < size - 1;
        struct span out = part_of(count, (me - step + 2 * size) % size, size);
        struct span in = part_of(count, (me - step - 1 + 2 * size) % size, size);
        char *place = data + in.from * element;
        error = fabric_exchange(fabric, data + out.from * element, (out.to - out.from) * element, right,
                                combines ? other : place, (in.to - in.from) * element, left, group->tag);
        if (combines && error == MPI_SUCCESS)
            reduction->combine(reduction, other, place, place, in.to - in.from);
    }
    return error;
}
