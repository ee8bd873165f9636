#include "messages.h"

#include "../group/group.h"

/* A reduction of more bytes than this is cut into as many parts as there are ranks. */
static const int64_t long_vector = 32768;

int messages_barrier(struct coll_comm *comm)
{
    struct group group = group_node(comm);
    return group_barrier(&group);
}

int messages_bcast(struct coll_comm *comm, int root, void *data, int64_t bytes)
{
    struct group group = group_node(comm);
    return group_bcast_tree(&group, root, data, bytes, 2);
}

/* Elements that are combined at a time: what comes must be kept somewhere. */
static int64_t piece_of(const struct reduction *reduction)
{
    const int64_t bytes = 4 << 20;
    return bytes / reduction->element;
}

int messages_reduce(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                    const struct reduction *reduction)
{
    struct group group = group_node(comm);
    int64_t most = piece_of(reduction);
    int error = MPI_SUCCESS;
    for (int64_t done = 0; done < count && error == MPI_SUCCESS; done += most) {
        int64_t at = done * reduction->element;
        const bool ordered = reduction->order != ORDER_FREE;
        error = (ordered ? group_reduce_ordered : group_reduce_tree)(
            &group, root, (const char *)send + at, receive == NULL ? NULL : (char *)receive + at,
            count - done < most ? count - done : most, reduction);
    }
    return error;
}

int messages_allreduce(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                       const struct reduction *reduction)
{
    struct group group = group_node(comm);
    int64_t most = piece_of(reduction);
    int error = MPI_SUCCESS;
    for (int64_t done = 0; done < count && error == MPI_SUCCESS; done += most) {
        int64_t at = done * reduction->element, now = count - done < most ? count - done : most;
        bool parts = reduction->order != ORDER_FREE || (group.size > 2 && now * reduction->element > long_vector);
        error = (parts ? group_allreduce_ordered : group_allreduce_doubling)(&group, (const char *)send + at,
                                                                             (char *)receive + at, now, reduction);
    }
    return error;
}

int messages_reduce_scatter(struct coll_comm *comm, const void *send, void *receive, const int64_t *counts_at,
                            const struct reduction *reduction)
{
    struct group group = group_node(comm);
    return group_reduce_scatter_linear(&group, send, receive, counts_at, reduction);
}

int messages_gather(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each,
                    const int64_t *bytes, const int64_t *at)
{
    struct group group = group_node(comm);
    struct blocks blocks = {each, bytes, at};
    return group_gather(&group, root, send, receive, &blocks);
}

int messages_scatter(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each,
                     const int64_t *bytes, const int64_t *at)
{
    struct group group = group_node(comm);
    struct blocks blocks = {each, bytes, at};
    return group_scatter(&group, root, send, receive, &blocks);
}

int messages_allgather(struct coll_comm *comm, const void *send, void *receive, int64_t each, const int64_t *bytes,
                       const int64_t *at)
{
    struct group group = group_node(comm);
    struct blocks blocks = {each, bytes, at};
    return group_allgather(&group, send, receive, &blocks);
}

int messages_alltoallv(struct coll_comm *comm, const void *send, const int64_t *send_bytes, const int64_t *send_at,
                       void *receive, const int64_t *receive_bytes, const int64_t *receive_at)
{
    struct group group = group_node(comm);
    struct blocks out = {.bytes = send_bytes, .at = send_at}, in = {.bytes = receive_bytes, .at = receive_at};
    return group_alltoall_pairwise(&group, send, &out, receive, &in);
}
