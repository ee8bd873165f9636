#include <stdlib.h>
#include <string.h>

#include "group.h"

static void own_block(const struct group *group, const void *send, const struct blocks *out, void *receive,
                      const struct blocks *in)
{
    int64_t bytes = blocks_bytes(in, group->me);
    if (bytes > 0)
        memcpy((char *)receive + blocks_at(in, group->me), (const char *)send + blocks_at(out, group->me),
               (size_t)bytes);
}

int group_alltoall_pairwise(const struct group *group, const void *send, const struct blocks *out, void *receive,
                            const struct blocks *in)
{
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    own_block(group, send, out, receive, in);
    for (int step = 1; step < size && error == MPI_SUCCESS; step++) {
        int to = (me + step) % size, from = (me - step + size) % size;
        error = fabric_exchange(&group->comm->fabric, (const char *)send + blocks_at(out, to), blocks_bytes(out, to),
                                group_rank(group, to), (char *)receive + blocks_at(in, from), blocks_bytes(in, from),
                                group_rank(group, from), group->tag);
    }
    return error;
}

struct window {
    const struct group *group;
    const char *send;
    char *receive;
    const struct blocks *out, *in;
    int most;
    MPI_Request *requests; /* of each place in the window: in, out */
};

static int start_receive(struct window *window, int step)
{
    const struct group *group = window->group;
    int from = (group->me - step + group->size) % group->size;
    return fabric_start_receive(&group->comm->fabric, window->receive + blocks_at(window->in, from),
                                blocks_bytes(window->in, from), group_rank(group, from), group->tag,
                                &window->requests[2 * (step % window->most)]);
}

static int start_send(struct window *window, int step)
{
    const struct group *group = window->group;
    int to = (group->me + step) % group->size;
    return fabric_start_send(&group->comm->fabric, window->send + blocks_at(window->out, to),
                             blocks_bytes(window->out, to), group_rank(group, to), group->tag,
                             &window->requests[2 * (step % window->most) + 1]);
}

/* As many receives as there is room for come first: a message that nobody waits for is copied once more. Then the window
   slides: before a partner is taken up, the one `most` before it is done with. */
static int spread(struct window *window)
{
    int size = window->group->size, error = MPI_SUCCESS;
    for (int step = 1; step < size && step <= window->most && error == MPI_SUCCESS; step++)
        error = start_receive(window, step);
    for (int step = 1; step < size && error == MPI_SUCCESS; step++) {
        if (step > window->most) {
            error = fabric_wait(&window->group->comm->fabric, 2, window->requests + 2 * (step % window->most));
            if (error == MPI_SUCCESS)
                error = start_receive(window, step);
        }
        if (error == MPI_SUCCESS)
            error = start_send(window, step);
    }
    own_block(window->group, window->send, window->out, window->receive, window->in);
    return error == MPI_SUCCESS ? fabric_wait(&window->group->comm->fabric, 2 * window->most, window->requests) : error;
}

int group_alltoall_spread(const struct group *group, const void *send, const struct blocks *out, void *receive,
                          const struct blocks *in, int most)
{
    most = most < group->size ? most : group->size;
    MPI_Request *requests = malloc(2 * (size_t)most * sizeof *requests);
    if (requests == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < 2 * most; i++)
        requests[i] = MPI_REQUEST_NULL;
    struct window window = {group, send, receive, out, in, most, requests};
    int error = spread(&window);
    free(requests);
    return error;
}
