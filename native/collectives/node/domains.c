#include "domains.h"

#include <stdlib.h>
#include <string.h>

#include "bcast.h"
#include "node.h"

bool domains_apply(const struct coll_comm *comm, const struct shape *shape)
{
    const struct topology *topology = &comm->topology;
    return topology->nodes == 1 && topology->domains > 1 && topology->largest_domain > 1 && node_shares(comm->node) &&
           shape->element <= DOMAINS_ELEMENT && (shape->commutative || topology->domains_in_order);
}

static void level_free(struct level *level)
{
    if (level->comm.node != NULL)
        segment_free(&level->comm.node->first);
    segment_free(&level->cells.segment);
    free(level->comm.node);
    free(level->ranks);
    *level = (struct level){0};
}

void domains_free(struct coll_comm *comm)
{
    struct domains *domains = comm->domains;
    if (domains == NULL)
        return;
    level_free(&domains->inner);
    level_free(&domains->outer);
    free(domains->domain_of);
    free(domains);
    comm->domains = NULL;
}

/* Collective over its members, of which there are `count`; the caller fills in which. */
static bool level_prepare(struct level *level, const struct coll_comm *comm, int count, int me)
{
    level->ranks = malloc(((size_t)count + 2) * sizeof *level->ranks);
    level->comm = *comm;
    level->comm.domains = NULL;
    level->comm.node = calloc(1, sizeof *level->comm.node);
    if (level->ranks == NULL || level->comm.node == NULL)
        return false;
    level->ranks[0] = 0, level->ranks[1] = count;
    level->comm.topology = (struct topology){.rank = comm->rank,
                                             .ranks = comm->ranks,
                                             .nodes = 1,
                                             .local = me,
                                             .locals = count,
                                             .first = level->ranks,
                                             .members = level->ranks + 2};
    struct node *node = level->comm.node;
    node->rank = me;
    node->ranks = count;
    node->crowded = comm->node->crowded;
    node->cell_bytes = cell_bytes_for(count);
    node->cells = &level->cells;
    return true;
}

/* Its lines and cells; collective over its members. */
static bool level_share(struct level *level)
{
    struct node *node = level->comm.node;
    if (node->ranks == 1)
        return true;
    node->shared = segment_create(&node->first, &level->comm, sizeof(struct shared_rank));
    return cells_ready(&level->comm);
}

/* Who is in which level, and its memory. */
static bool prepare(struct domains *domains, const struct coll_comm *comm)
{
    const struct topology *topology = &comm->topology;
    int me = topology->local, locals = topology->locals, own = topology->domain_of[comm->rank];
    domains->domain_of = calloc(2 * (size_t)locals, sizeof *domains->domain_of);
    if (domains->domain_of == NULL)
        return false;
    domains->place_of = domains->domain_of + locals;
    int here = 0;
    for (int local = 0; local < locals; local++) {
        int domain = domains->domain_of[local] = topology->domain_of[topology_rank(topology, 0, local)];
        for (int before = 0; before < local; before++)
            domains->place_of[local] += domains->domain_of[before] == domain;
        here += domain == own;
    }
    bool leads = domains->place_of[me] == 0;
    if (!level_prepare(&domains->inner, comm, here, domains->place_of[me]) ||
        (leads && !level_prepare(&domains->outer, comm, topology->domains, own)))
        return false;
    for (int local = 0; local < locals; local++) {
        int rank = topology_rank(topology, 0, local);
        if (domains->domain_of[local] == own)
            domains->inner.ranks[2 + domains->place_of[local]] = rank;
        if (leads && domains->place_of[local] == 0)
            domains->outer.ranks[2 + domains->domain_of[local]] = rank;
    }
    return true;
}

/* Made at the first call; collective, the same answer on all ranks. NULL: refused. */
static struct domains *ready(struct coll_comm *comm)
{
    struct domains *domains = comm->domains;
    if (domains == NULL) {
        domains = comm->domains = calloc(1, sizeof *domains);
        if (!segment_agree(comm, domains != NULL && prepare(domains, comm))) {
            domains_free(comm);
            return NULL; /* tried again at the next call: some ranks may have no memory to remember it */
        }
        bool good = level_share(&domains->inner);
        if (domains->outer.comm.node != NULL)
            good = level_share(&domains->outer) && good;
        domains->refused = !segment_agree(comm, good);
    }
    return domains->refused ? NULL : domains;
}

static bool leads(const struct domains *domains)
{
    return domains->outer.comm.node != NULL;
}

/* At most a cell, from one rank of a level to all others of it. */
static int hand_out(struct level *level, int from, void *data, int64_t bytes)
{
    if (level->comm.node->ranks == 1)
        return MPI_SUCCESS;
    return bytes <= LINE_ROOM ? node_bcast_inline(&level->comm, from, data, bytes)
                              : node_bcast_cells(&level->comm, from, data, bytes, bytes);
}

/* Elements of all ranks of a level, at most a cell of them, combined on one of them. */
static int combine_on(struct level *level, int to, const void *send, void *receive, int64_t count,
                      const struct reduction *reduction)
{
    if (level->comm.node->ranks > 1)
        return node_reduce(&level->comm, to, send, receive, count, reduction);
    if (receive != send)
        memcpy(receive, send, (size_t)(count * reduction->element));
    return MPI_SUCCESS;
}

/* At most a cell, from one rank of a level to one other; all of it take part. */
static void hand_over(struct level *level, int from, int to, const void *send, void *receive, int64_t bytes)
{
    struct coll_comm *comm = &level->comm;
    struct node *node = comm->node;
    uint64_t step = node_steps(node, 1);
    if (node->rank == from) {
        cell_room(comm, step);
        memcpy(cell_of(node, from, step), send, (size_t)bytes);
        line_post(node, step);
    } else if (node->rank == to) {
        line_wait(comm, from, step);
        memcpy(receive, cell_of(node, from, step), (size_t)bytes);
    }
    node_pass(node, step + 1);
}

/* What goes up or down at a time: whole elements, at most a cell of any level; the same on all ranks. */
static int64_t piece_of(const struct coll_comm *comm, int64_t segment, int64_t element)
{
    const struct topology *topology = &comm->topology;
    int64_t most =
        cell_bytes_for(topology->domains > topology->largest_domain ? topology->domains : topology->largest_domain);
    int64_t bytes = segment < most ? segment : most;
    return bytes > element ? bytes / element * element : element;
}

int domains_barrier(struct coll_comm *comm)
{
    struct domains *domains = ready(comm);
    if (domains == NULL)
        return node_barrier(comm);
    struct coll_comm *inner = &domains->inner.comm;
    struct node *node = inner->node;
    uint64_t step = node_steps(node, 2);
    if (node->ranks == 1)
        return node_barrier(&domains->outer.comm);
    int error = MPI_SUCCESS;
    line_room(inner, step + 1);
    if (leads(domains)) {
        for (int local = 1; local < node->ranks; local++)
            line_wait(inner, local, step);
        error = node_barrier(&domains->outer.comm);
        line_post(node, step + 1);
    } else {
        line_post(node, step);
        line_wait(inner, 0, step + 1);
    }
    node_know(node, step); /* the leader has seen all of them here */
    node_pass(node, step + 2);
    return error;
}

int domains_bcast(struct coll_comm *comm, int root, void *data, int64_t bytes, int64_t segment)
{
    struct domains *domains = ready(comm);
    if (domains == NULL)
        return node_bcast(comm, root, data, bytes);
    int home = domains->domain_of[root], place = domains->place_of[root];
    bool at_home = domains->domain_of[comm->topology.local] == home;
    int64_t most = piece_of(comm, segment, 1);
    int error = MPI_SUCCESS, failed;
    for (char *at = data; bytes > 0; bytes -= most, at += most) {
        int64_t piece = bytes < most ? bytes : most;
        if (at_home && place != 0) { /* the leader must hear of it first */
            failed = hand_out(&domains->inner, place, at, piece);
            error = failed ? failed : error;
        }
        if (leads(domains)) {
            failed = hand_out(&domains->outer, home, at, piece);
            error = failed ? failed : error;
        }
        if (!at_home || place == 0) {
            failed = hand_out(&domains->inner, at_home ? place : 0, at, piece);
            error = failed ? failed : error;
        }
    }
    return error;
}

int domains_reduce(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                   const struct reduction *reduction, int64_t segment)
{
    struct domains *domains = ready(comm);
    int64_t element = reduction->element, most = piece_of(comm, segment, element), each = most / element;
    void *work = coll_scratch(comm, SCRATCH_WORK, most);
    if (domains == NULL)
        return node_reduce(comm, root, send, receive, count, reduction);
    if (work == NULL)
        return MPI_ERR_NO_MEM;
    int home = domains->domain_of[root], place = domains->place_of[root], me = comm->topology.local;
    const char *from = send;
    char *to = receive;
    int error = MPI_SUCCESS, failed;
    for (; count > 0; count -= each, from += most) {
        int64_t piece = count < each ? count : each;
        /* The root's leader hands over what it has combined, if it is not the root itself. */
        void *result = me == root && place == 0 ? to : work;
        failed = combine_on(&domains->inner, 0, from, result, piece, reduction);
        error = failed ? failed : error;
        if (leads(domains)) {
            failed = combine_on(&domains->outer, home, result, result, piece, reduction);
            error = failed ? failed : error;
        }
        if (domains->domain_of[me] == home && place != 0)
            hand_over(&domains->inner, 0, place, work, to, piece * element);
        to = me == root ? to + most : to;
    }
    return error;
}

int domains_allreduce(struct coll_comm *comm, const void *send, void *receive, int64_t count,
                      const struct reduction *reduction, int64_t segment)
{
    struct domains *domains = ready(comm);
    if (domains == NULL)
        return node_allreduce(comm, send, receive, count, reduction);
    int64_t element = reduction->element, most = piece_of(comm, segment, element), each = most / element;
    int64_t pieces = (count + each - 1) / each;
    int error = MPI_SUCCESS, failed;
    /* The others of a domain give their next piece before they wait for the one before. */
    for (int64_t i = 0; i <= pieces; i++) {
        int64_t here = i < pieces ? (count - i * each < each ? count - i * each : each) : 0;
        char *to = (char *)receive + i * most;
        if (here > 0) {
            failed = combine_on(&domains->inner, 0, (const char *)send + i * most, to, here, reduction);
            error = failed ? failed : error;
        }
        if (i > 0) {
            int64_t before = i < pieces ? most : (count - (i - 1) * each) * element;
            failed = hand_out(&domains->inner, 0, to - most, before);
            error = failed ? failed : error;
        }
        if (here > 0 && leads(domains)) {
            failed = node_allreduce(&domains->outer.comm, to, to, here, reduction);
            error = failed ? failed : error;
        }
    }
    return error;
}
