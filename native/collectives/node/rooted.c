#include "rooted.h"

#include <string.h>

#include "alltoall.h"
#include "exchange.h"
#include "messages.h"
#include "node.h"

/* What the root has, and what another has for it or gets from it. */
static struct flow of_root(int64_t each, const int64_t *bytes, const int64_t *at)
{
    return (struct flow){-1, each, bytes, at};
}

static struct flow of_other(const struct node *node, int root, int64_t each, const int64_t *bytes)
{
    return (struct flow){root, bytes ? bytes[node->rank] : each, NULL, NULL};
}

static const struct flow nothing = {0, 0, NULL, NULL};

static int gather(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each, const int64_t *bytes,
                  const int64_t *at, int64_t pull_from)
{
    if (!pairs_ready(comm))
        return messages_gather(comm, root, send, receive, each, bytes, at);
    const struct flow all = of_root(each, bytes, at), mine = of_other(comm->node, root, each, bytes);
    return exchange(comm, send, &mine, receive, comm->node->rank == root ? &all : &nothing, pull_from);
}

static int scatter(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each,
                   const int64_t *bytes, const int64_t *at, int64_t pull_from)
{
    if (!pairs_ready(comm))
        return messages_scatter(comm, root, send, receive, each, bytes, at);
    const struct flow all = of_root(each, bytes, at), mine = of_other(comm->node, root, each, bytes);
    return exchange(comm, send, comm->node->rank == root ? &all : &nothing, receive, &mine, pull_from);
}

int node_gather(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each, const int64_t *bytes,
                const int64_t *at)
{
    return gather(comm, root, send, receive, each, bytes, at, exchange_pull_from(comm->node));
}

int node_scatter(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each, const int64_t *bytes,
                 const int64_t *at)
{
    return scatter(comm, root, send, receive, each, bytes, at, exchange_pull_from(comm->node));
}

int node_gather_cells(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each)
{
    return gather(comm, root, send, receive, each, NULL, NULL, INT64_MAX);
}

int node_scatter_cells(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each)
{
    return scatter(comm, root, send, receive, each, NULL, NULL, INT64_MAX);
}

/* The others go by the length of their own blocks, the root by the longest of all. */
static bool are_short(const struct node *node, int64_t own, const int64_t *bytes)
{
    for (int local = 0; local < node->ranks && bytes != NULL; local++)
        own = bytes[local] > own ? bytes[local] : own;
    return own <= PAIR_ROOM;
}

int node_gatherv(struct coll_comm *comm, int root, const void *send, int64_t own, void *receive, const int64_t *bytes,
                 const int64_t *at, bool pulls)
{
    const bool is_root = comm->node->rank == root;
    if (!pairs_ready(comm))
        return messages_gather(comm, root, send, receive, own, is_root ? bytes : NULL, is_root ? at : NULL);
    const struct flow all = {-1, 0, bytes, at}, mine = {root, own, NULL, NULL};
    if (are_short(comm->node, own, is_root ? bytes : NULL))
        return exchange_inline(comm, send, &mine, receive, is_root ? &all : &nothing);
    return exchange(comm, send, &mine, receive, is_root ? &all : &nothing, pulls ? exchange_pull_usual() : INT64_MAX);
}

int node_scatterv(struct coll_comm *comm, int root, const void *send, const int64_t *bytes, const int64_t *at,
                  void *receive, int64_t own, bool pulls)
{
    const bool is_root = comm->node->rank == root;
    if (!pairs_ready(comm))
        return messages_scatter(comm, root, send, receive, own, is_root ? bytes : NULL, is_root ? at : NULL);
    const struct flow all = {-1, 0, bytes, at}, mine = {root, own, NULL, NULL};
    if (are_short(comm->node, own, is_root ? bytes : NULL))
        return exchange_inline(comm, send, is_root ? &all : &nothing, receive, &mine);
    return exchange(comm, send, is_root ? &all : &nothing, receive, &mine, pulls ? exchange_pull_usual() : INT64_MAX);
}

static void copy_own(char *to, const char *from, int64_t bytes)
{
    if (to != from && bytes > 0)
        memcpy(to, from, (size_t)bytes);
}

/* All blocks in one line of the root's. */
static int scatter_line(struct coll_comm *comm, int root, const char *send, char *receive, int64_t each)
{
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 1);
    if (node->rank == root) {
        line_room(comm, step);
        memcpy(line_of(node, root, step)->payload, send, (size_t)(node->ranks * each));
        line_post(node, step);
        copy_own(receive, send + root * each, each);
    } else
        memcpy(receive, line_wait(comm, root, step)->payload + node->rank * each, (size_t)each);
    node_pass(node, step + 1);
    if (node->rank == root)
        line_prepare(node);
    return wait_outcome(comm);
}

int node_scatter_inline(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each)
{
    if (node_shares(comm->node) && comm->node->ranks * each <= LINE_ROOM)
        return scatter_line(comm, root, send, receive, each);
    if (!pairs_ready(comm))
        return messages_scatter(comm, root, send, receive, each, NULL, NULL);
    const struct flow all = of_root(each, NULL, NULL), mine = of_other(comm->node, root, each, NULL);
    return exchange_inline(comm, send, comm->node->rank == root ? &all : &nothing, receive, &mine);
}

int node_gather_inline(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each)
{
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 1);
    char *to = receive;
    if (node->rank != root) {
        line_room(comm, step);
        memcpy(line_of(node, node->rank, step)->payload, send, (size_t)each);
        line_post(node, step);
    } else {
        copy_own(to + root * each, send, each);
        for (int i = 1; i < node->ranks; i++) {
            int local = root + i < node->ranks ? root + i : root + i - node->ranks;
            memcpy(to + local * each, line_wait(comm, local, step)->payload, (size_t)each);
        }
    }
    node_pass(node, step + 1);
    if (node->rank != root)
        line_prepare(node);
    return wait_outcome(comm);
}

/* The root offers its memory in the first step; in the second all others say that they have done with it, and whether
   they could. */
static int by_all_but_root(struct coll_comm *comm, int root, char *whole, char *own, int64_t each, bool writes)
{
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 2);
    int error = MPI_SUCCESS;
    if (node->rank == root) {
        uint64_t address = pull_address(whole);
        line_room(comm, step);
        memcpy(line_of(node, root, step)->payload, &address, sizeof address);
        line_post(node, step);
        if (writes)
            copy_own(whole + root * each, own, each);
        else
            copy_own(own, whole + root * each, each);
        for (int local = 0; local < node->ranks; local++)
            if (local != root && line_wait(comm, local, step + 1)->payload[0] != 0)
                error = MPI_ERR_OTHER;
    } else {
        uint64_t address;
        memcpy(&address, line_wait(comm, root, step)->payload, sizeof address);
        address += (uint64_t)(node->rank * each);
        if (wait_outcome(comm) == MPI_SUCCESS)
            error = writes ? pull_write(&node->pull, root, address, own, each)
                           : pull_read(&node->pull, root, address, own, each);
        line_room(comm, step + 1);
        line_of(node, node->rank, step + 1)->payload[0] = error != MPI_SUCCESS;
        line_post(node, step + 1);
    }
    node_pass(node, step + 2);
    return error ? error : wait_outcome(comm);
}

int node_gather_push(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each)
{
    return by_all_but_root(comm, root, receive, (char *)(uintptr_t)send, each, true);
}

int node_scatter_pull(struct coll_comm *comm, int root, const void *send, void *receive, int64_t each)
{
    return by_all_but_root(comm, root, (char *)(uintptr_t)send, receive, each, false);
}
