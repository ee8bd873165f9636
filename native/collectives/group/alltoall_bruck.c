#include <string.h>

#include "group.h"
#include "rounds.h"
#include "schedule.h"

static char *copy(char *to, const char *from, int64_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, (size_t)bytes);
    return to + bytes;
}

struct bruck {
    const struct group *group;
    int radix;
    int64_t each;
    char *work, *out, *in; /* room for all blocks in each */
};

/* Copies the blocks that travel so many strides from `work` to `packed`, or back; where the next ones begin there. */
static char *pack(const struct bruck *bruck, char *packed, int64_t stride, int strides, bool out)
{
    for (int64_t from = strides * stride; from < bruck->group->size; from += stride * bruck->radix) {
        int64_t end = from + stride < bruck->group->size ? from + stride : bruck->group->size;
        char *blocks = bruck->work + from * bruck->each;
        copy(out ? packed : blocks, out ? blocks : packed, (end - from) * bruck->each);
        packed += (end - from) * bruck->each;
    }
    return packed;
}

static int exchange(const struct bruck *bruck, int64_t stride)
{
    const int size = bruck->group->size, me = bruck->group->me;
    struct round round = {.group = bruck->group};
    char *start[RADIX_MOST + 1] = {[1] = bruck->out};
    int error = MPI_SUCCESS, last = 0;
    for (int i = 1; i < bruck->radix && i * stride < size && error == MPI_SUCCESS; i++) {
        start[i + 1] = pack(bruck, start[i], stride, i, true);
        error = round_receive(&round, bruck->in + (start[i] - bruck->out), start[i + 1] - start[i],
                              (int)((me - i * stride + size) % size));
        last = i;
    }
    for (int i = 1; i <= last && error == MPI_SUCCESS; i++)
        error = round_send(&round, start[i], start[i + 1] - start[i], (int)((me + i * stride) % size));
    error = round_finish(&round, error);
    for (int i = 1; i <= last && error == MPI_SUCCESS; i++)
        pack(bruck, bruck->in + (start[i] - bruck->out), stride, i, false);
    return error;
}

/* Bruck et al.: Efficient algorithms for all-to-all communications in multiport message-passing systems (1997). Blocks
   are kept by their distance from here to where they are going (at first) or have come from (in the end): one at distance
   d travels in the rounds of the digits of d, as many strides as the digit says. */
int group_alltoall_bruck(const struct group *group, const void *send, void *receive, int64_t each, int radix)
{
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    int64_t all = size * each;
    char *work = coll_scratch(group->comm, group->scratch, 3 * all);
    if (work == NULL && all > 0)
        return MPI_ERR_NO_MEM;
    const struct bruck bruck = {
        .group = group, .radix = radix, .each = each, .work = work, .out = work + all, .in = work + 2 * all};
    copy(copy(work, (const char *)send + me * each, (size - me) * each), send, me * each);
    for (int64_t stride = 1; stride < size && error == MPI_SUCCESS; stride *= radix)
        error = exchange(&bruck, stride);
    for (int distance = 0; distance < size; distance++)
        copy((char *)receive + (me - distance + size) % size * each, work + distance * each, each);
    return error;
}
