#include <stdlib.h>
#include <string.h>

#include "group.h"

/* Blocks up to this many bytes are worth being sent more than once to save messages. */
static const int64_t small_block = 4096;

static void own_block(const struct group *group, const void *send, void *receive, const struct blocks *blocks)
{
    char *place = (char *)receive + blocks_at(blocks, group->me);
    int64_t bytes = blocks_bytes(blocks, group->me);
    if (bytes > 0 && place != send)
        memcpy(place, send, (size_t)bytes);
}

/* A ring that goes on: `step` s receives block me - s - 1 and sends block me - s, in pieces. */
struct ring {
    const struct group *group;
    const struct blocks *blocks;
    char *receive;
    int64_t segment;
    int left, right, most; /* neighbours; pieces of the longest block */
    MPI_Request *requests; /* of two steps' pieces received, and of two steps' sent */
};

static int ring_block(const struct ring *ring, int step)
{
    return (ring->group->me - step + ring->group->size) % ring->group->size;
}

static int pieces(const struct ring *ring, int block)
{
    int64_t bytes = blocks_bytes(ring->blocks, block);
    return ring->segment <= 0 ? bytes > 0 : (int)((bytes + ring->segment - 1) / ring->segment);
}

/* Where piece `i` of a block is, and its length in *bytes. */
static char *piece(const struct ring *ring, int block, int i, int64_t *bytes)
{
    int64_t at = ring->segment > 0 ? i * ring->segment : 0, left = blocks_bytes(ring->blocks, block) - at;
    *bytes = ring->segment > 0 && left > ring->segment ? ring->segment : left;
    return ring->receive + blocks_at(ring->blocks, block) + at;
}

static MPI_Request *received(const struct ring *ring, int step)
{
    return ring->requests + step % 2 * ring->most;
}

static MPI_Request *sent(const struct ring *ring, int step)
{
    return ring->requests + (2 + step % 2) * ring->most;
}

static int start_receives(const struct ring *ring, int step)
{
    int block = ring_block(ring, step + 1), error = MPI_SUCCESS;
    for (int i = 0; i < pieces(ring, block) && error == MPI_SUCCESS; i++) {
        int64_t bytes;
        char *to = piece(ring, block, i, &bytes);
        error = fabric_start_receive(&ring->group->comm->fabric, to, bytes, ring->left, ring->group->tag,
                                     &received(ring, step)[i]);
    }
    return error;
}

/* Each piece as soon as it is there. */
static int start_sends(const struct ring *ring, int step)
{
    int block = ring_block(ring, step), error = MPI_SUCCESS;
    for (int i = 0; i < pieces(ring, block) && error == MPI_SUCCESS; i++) {
        int64_t bytes;
        const char *from = piece(ring, block, i, &bytes);
        if (step > 0)
            error = fabric_wait(&ring->group->comm->fabric, 1, &received(ring, step - 1)[i]);
        if (error == MPI_SUCCESS)
            error = fabric_start_send(&ring->group->comm->fabric, from, bytes, ring->right, ring->group->tag,
                                      &sent(ring, step)[i]);
    }
    return error;
}

static int go_around(const struct ring *ring, const struct arrival *arrival)
{
    int steps = ring->group->size - 1, error = steps > 0 ? start_receives(ring, 0) : MPI_SUCCESS;
    for (int step = 0; step < steps && error == MPI_SUCCESS; step++) {
        error = start_sends(ring, step);
        if (error == MPI_SUCCESS && step + 1 < steps)
            error = start_receives(ring, step + 1); /* where those of the step before were, which have come */
        if (error == MPI_SUCCESS)
            error = arrival_tell(arrival, ring_block(ring, step));
        if (error == MPI_SUCCESS && step > 0) /* their requests' places are wanted again */
            error =
                fabric_wait(&ring->group->comm->fabric, pieces(ring, ring_block(ring, step - 1)), sent(ring, step - 1));
    }
    if (error == MPI_SUCCESS && steps > 0)
        error =
            fabric_wait(&ring->group->comm->fabric, pieces(ring, ring_block(ring, steps)), received(ring, steps - 1));
    if (error == MPI_SUCCESS && steps > 0)
        error =
            fabric_wait(&ring->group->comm->fabric, pieces(ring, ring_block(ring, steps - 1)), sent(ring, steps - 1));
    return error == MPI_SUCCESS ? arrival_tell(arrival, ring_block(ring, steps)) : error;
}

int group_allgather_ring(const struct group *group, const void *send, void *receive, const struct blocks *blocks,
                         int64_t segment, const struct arrival *arrival)
{
    int size = group->size;
    struct ring ring = {group,
                        blocks,
                        receive,
                        segment,
                        group_rank(group, (group->me + size - 1) % size),
                        group_rank(group, (group->me + 1) % size),
                        .most = 1};
    own_block(group, send, receive, blocks);
    for (int block = 0; block < size; block++)
        ring.most = pieces(&ring, block) > ring.most ? pieces(&ring, block) : ring.most;
    ring.requests = malloc(4 * (size_t)ring.most * sizeof *ring.requests);
    if (ring.requests == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < 4 * ring.most; i++)
        ring.requests[i] = MPI_REQUEST_NULL;
    int error = go_around(&ring, arrival);
    free(ring.requests);
    return error;
}

/* `starts[i]`: where, of the blocks from the own one on around, the i-th begins. */
static void add_up(const struct group *group, const struct blocks *blocks, int64_t *starts)
{
    starts[0] = 0;
    for (int i = 0; i < group->size; i++)
        starts[i + 1] = starts[i] + blocks_bytes(blocks, (group->me + i) % group->size);
}

static int bruck(const struct group *group, char *work, const int64_t *starts)
{
    int size = group->size, me = group->me, error = MPI_SUCCESS;
    for (int have = 1; have < size && error == MPI_SUCCESS; have *= 2) {
        int more = have < size - have ? have : size - have;
        error = fabric_exchange(&group->comm->fabric, work, starts[more], group_rank(group, (me - have + size) % size),
                                work + starts[have], starts[have + more] - starts[have],
                                group_rank(group, (me + have) % size), group->tag);
    }
    return error;
}

int group_allgather_bruck(const struct group *group, const void *send, void *receive, const struct blocks *blocks)
{
    int size = group->size, error = MPI_ERR_NO_MEM;
    int64_t *starts = malloc(((size_t)size + 1) * sizeof *starts);
    char *work = NULL;
    if (starts != NULL) {
        add_up(group, blocks, starts);
        work = coll_scratch(group->comm, group->scratch, starts[size] + 1);
    }
    if (work != NULL) {
        memcpy(work, send, (size_t)starts[1]);
        error = bruck(group, work, starts);
        for (int i = 0; i < size; i++)
            memcpy((char *)receive + blocks_at(blocks, (group->me + i) % size), work + starts[i],
                   (size_t)(starts[i + 1] - starts[i]));
    }
    free(starts);
    return error;
}

int group_allgather(const struct group *group, const void *send, void *receive, const struct blocks *blocks)
{
    if (blocks->bytes == NULL && blocks->each <= small_block && group->size > 2)
        return group_allgather_bruck(group, send, receive, blocks);
    return group_allgather_ring(group, send, receive, blocks, 0, NULL);
}
