#include "domains.h"

#include <stdlib.h>
#include <string.h>

#include "bcast.h"
#include "meet.h"
#include "node.h"

bool domains_apply(const struct coll_comm *comm, const struct shape *shape)
{
    const struct levels *levels = &comm->topology.levels;
    return comm->topology.nodes == 1 && levels->count > 0 && node_shares(comm->node) &&
           shape->element <= DOMAINS_ELEMENT && (shape->commutative || levels->in_order);
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
    for (int level = 0; level <= LEVELS; level++)
        level_free(&domains->level[level]);
    free(domains->numbers);
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

/* Which domain everybody is in at each level, and its number among those who meet there: of ranks, then of domains of
 * the level before. `seen`: room for each rank. */
static void number(struct domains *domains, const struct coll_comm *comm, const struct domains_way *way, int *seen)
{
    const struct topology *topology = &comm->topology;
    const int locals = topology->locals;
    for (int k = 0; k < way->count; k++) {
        struct level *level = &domains->level[k];
        const int depth = way->depth[k];
        level->home = domains->numbers + (size_t)(2 * k) * (size_t)locals;
        level->place_of = level->home + locals;
        memset(seen, 0, (size_t)locals * sizeof *seen);
        for (int local = 0; local < locals; local++) {
            const int rank = topology_rank(topology, 0, local);
            const int home = level->home[local] =
                depth == 0 ? 0 : topology->levels.domain_of[(depth - 1) * topology->ranks + rank];
            int first = local; /* who leads it at the level before */
            for (int i = 0; k > 0 && first == local && i < local; i++)
                first = level[-1].home[i] == level[-1].home[local] ? i : local;
            level->place_of[local] = first == local ? seen[home]++ : level->place_of[first];
        }
    }
}

/* Whether a rank is of a level: it leads at all before. */
static bool is_of(const struct domains *domains, int k, int local)
{
    for (int before = 0; before < k; before++)
        if (domains->level[before].place_of[local] != 0)
            return false;
    return true;
}

/* The way that was found to be the quickest: at MPI_Init or, where costs are those of a study or of nobody, now. Collective
 * over the node, the same on all ranks. */
static struct domains_way measured_way(struct coll_comm *comm)
{
    struct {
        double meet[LEVELS + 1], more;
    } found = {{0}, 0};
    if (comm->costs.meet_more > 0 || !meet_measure(comm, &comm->topology.levels, found.meet, &found.more))
        return domains_way(comm);
    _Static_assert(sizeof found <= LINE_ROOM, "it goes in a line");
    node_bcast_inline(comm, 0, &found, sizeof found);
    return domains_way_of(comm, found.meet, found.more);
}

/* Who is in which level, and its memory. */
static bool prepare(struct domains *domains, const struct coll_comm *comm, const struct domains_way *taken)
{
    const struct topology *topology = &comm->topology;
    const struct domains_way way = *taken;
    const int me = topology->local, locals = topology->locals;
    int *seen = calloc((size_t)locals, sizeof *seen);
    domains->count = way.count;
    domains->numbers = calloc(2 * (size_t)way.count * (size_t)locals, sizeof *domains->numbers);
    bool good = seen != NULL && domains->numbers != NULL;
    if (good)
        number(domains, comm, &way, seen);
    free(seen);
    for (int k = 0; good && k < way.count; k++) {
        struct level *level = &domains->level[k];
        const int64_t cell = cell_bytes_for(way.width[k]);
        domains->cell = k == 0 || cell < domains->cell ? cell : domains->cell;
        if (!is_of(domains, k, me))
            continue;
        int members = 0;
        for (int local = 0; local < locals; local++)
            members += is_of(domains, k, local) && level->home[local] == level->home[me];
        good = level_prepare(level, comm, members, level->place_of[me]);
        for (int local = 0; good && local < locals; local++)
            if (is_of(domains, k, local) && level->home[local] == level->home[me])
                level->ranks[2 + level->place_of[local]] = topology_rank(topology, 0, local);
    }
    return good;
}

/* This rank is of this level. */
static bool takes_part(const struct level *level)
{
    return level->comm.node != NULL;
}

/* Made at the first call; collective, the same answer on all ranks. NULL: refused. */
static struct domains *ready(struct coll_comm *comm)
{
    struct domains *domains = comm->domains;
    if (domains == NULL) {
        const struct domains_way way = measured_way(comm);
        domains = comm->domains = calloc(1, sizeof *domains);
        if (!segment_agree(comm, domains != NULL && prepare(domains, comm, &way))) {
            domains_free(comm);
            return NULL; /* tried again at the next call: some ranks may have no memory to remember it */
        }
        bool good = true;
        for (int k = 0; k < domains->count && takes_part(&domains->level[k]); k++)
            good = level_share(&domains->level[k]) && good;
        domains->refused = !segment_agree(comm, good);
    }
    return domains->refused ? NULL : domains;
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
static int64_t piece_of(const struct domains *domains, int64_t segment, int64_t element)
{
    int64_t bytes = segment < domains->cell ? segment : domains->cell;
    return bytes > element ? bytes / element * element : element;
}

/* From here on up; collective over those of this level and above. */
static int barrier_from(struct domains *domains, int k)
{
    struct coll_comm *comm = &domains->level[k].comm;
    struct node *node = comm->node;
    if (k == domains->count - 1)
        return node_barrier(comm);
    if (node->ranks == 1)
        return barrier_from(domains, k + 1);
    int error = MPI_SUCCESS;
    uint64_t step = node_steps(node, 2);
    line_room(comm, step + 1);
    if (node->rank == 0) {
        for (int local = 1; local < node->ranks; local++)
            line_wait(comm, local, step);
        error = barrier_from(domains, k + 1);
        line_post(node, step + 1);
    } else {
        line_post(node, step);
        line_wait(comm, 0, step + 1);
    }
    node_know(node, step); /* the leader has seen all of them here */
    node_pass(node, step + 2);
    return error;
}

int domains_barrier(struct coll_comm *comm)
{
    struct domains *domains = ready(comm);
    return domains == NULL ? node_barrier(comm) : barrier_from(domains, 0);
}

/* Up from the root to who leads, as far as it does not lead itself; then down wherever it was not heard on the way. */
static int bcast_piece(struct domains *domains, int me, int root, void *data, int64_t bytes)
{
    int error = MPI_SUCCESS;
    for (int turn = 0; turn < 2 * domains->count; turn++) {
        const bool up = turn < domains->count;
        struct level *level = &domains->level[up ? turn : 2 * domains->count - 1 - turn];
        const bool at_home = level->home[me] == level->home[root];
        const int from = at_home ? level->place_of[root] : 0;
        if (!takes_part(level) || up != (from != 0))
            continue;
        int failed = hand_out(level, from, data, bytes);
        error = failed ? failed : error;
    }
    return error;
}

int domains_bcast(struct coll_comm *comm, int root, void *data, int64_t bytes, int64_t segment)
{
    struct domains *domains = ready(comm);
    if (domains == NULL)
        return node_bcast(comm, root, data, bytes);
    int64_t most = piece_of(domains, segment, 1);
    int error = MPI_SUCCESS;
    for (char *at = data; bytes > 0; bytes -= most, at += most) {
        int failed = bcast_piece(domains, comm->topology.local, root, at, bytes < most ? bytes : most);
        error = failed ? failed : error;
    }
    return error;
}

/* From who leads everywhere down to the root. */
static void hand_down(struct domains *domains, int me, int root, const void *from, void *to, int64_t bytes)
{
    for (int k = domains->count - 2; k >= 0; k--) {
        struct level *level = &domains->level[k];
        if (takes_part(level) && level->home[me] == level->home[root] && level->place_of[root] != 0)
            hand_over(level, 0, level->place_of[root], from, to, bytes);
    }
}

int domains_reduce(struct coll_comm *comm, int root, const void *send, void *receive, int64_t count,
                   const struct reduction *reduction, int64_t segment)
{
    struct domains *domains = ready(comm);
    if (domains == NULL)
        return node_reduce(comm, root, send, receive, count, reduction);
    const int64_t element = reduction->element, most = piece_of(domains, segment, element), each = most / element;
    const int me = comm->topology.local, last = domains->count - 1;
    void *work = coll_scratch(comm, SCRATCH_WORK, most);
    if (work == NULL)
        return MPI_ERR_NO_MEM;
    const char *from = send;
    char *to = receive;
    int error = MPI_SUCCESS, failed;
    for (; count > 0; count -= each, from += most) {
        const int64_t piece = count < each ? count : each;
        const void *own = from;
        void *result = me == root ? to : work;
        for (int k = 0; k <= last && takes_part(&domains->level[k]); k++) {
            struct level *level = &domains->level[k];
            failed = combine_on(level, k == last ? level->place_of[root] : 0, own, result, piece, reduction);
            error = failed ? failed : error;
            own = result;
        }
        hand_down(domains, me, root, result, result, piece * element);
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
    const int64_t element = reduction->element, most = piece_of(domains, segment, element), each = most / element;
    const int64_t pieces = (count + each - 1) / each;
    const int last = domains->count - 1;
    int error = MPI_SUCCESS, failed;
    /* Those of a level give their next piece before they wait for one before: it comes back as many turns later as there
       are levels above. */
    for (int64_t i = 0; i < pieces + last; i++)
        for (int k = 0; k <= last && takes_part(&domains->level[k]); k++) {
            struct level *level = &domains->level[k];
            const int64_t back = i - (last - k);
            if (i < pieces) {
                const int64_t left = count - i * each, piece = left < each ? left : each;
                char *to = (char *)receive + i * most;
                const void *from = k == 0 ? (const char *)send + i * most : to;
                failed = k == last ? node_allreduce(&level->comm, from, to, piece, reduction)
                                   : combine_on(level, 0, from, to, piece, reduction);
                error = failed ? failed : error;
            }
            if (k < last && back >= 0 && back < pieces) {
                const int64_t left = count - back * each, piece = left < each ? left : each;
                failed = hand_out(level, 0, (char *)receive + back * most, piece * element);
                error = failed ? failed : error;
            }
        }
    return error;
}
