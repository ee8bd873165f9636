#include "comm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "members.h"
#include "topology.h"

enum { GROUPS_MOST = 8192, CACHED = 32, RANKS_CACHED = 64 };

struct comms comms;

static struct group groups[GROUPS_MOST]; /* those in use are the attributes */
static struct group no_room;             /* the attribute of all that came when none was free */
static int32_t next_free[GROUPS_MOST];
static int32_t first_free;
static int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* everything here but the caches and the generation */
static uint64_t serials;
static uint32_t generation = 1; /* changes when a communicator is freed: its handle may be another's soon */

static MPI_Group world;
static int32_t *node_of_rank; /* of MPI_COMM_WORLD */
static int *to;               /* room for as many ranks' numbers in it */
static uint64_t *node_seen;   /* the serial of the communicator that was last seen to be on a node */

/* What this thread looked up last. */
static _Thread_local struct {
    MPI_Comm comm;
    uint32_t generation;
    const struct group *group;
} cache[CACHED] __attribute__((tls_model("initial-exec")));
static _Thread_local struct group unkept __attribute__((tls_model("initial-exec")));
static _Thread_local struct {
    uint64_t serial;
    int rank;
    int world_rank;
} ranks_cache[RANKS_CACHED] __attribute__((tls_model("initial-exec")));

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
    if (value == &no_room)
        return MPI_SUCCESS;
    int32_t i = (int32_t)((struct group *)value - groups);
    pthread_mutex_lock(&lock);
    next_free[i] = first_free;
    first_free = i;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

static int32_t shape_find(int size, int nodes)
{
    for (int i = 0; i < comms.shape_count; i++)
        if (comms.shapes[i].size == size && comms.shapes[i].nodes == nodes)
            return i;
    if (comms.shape_count == SHAPES_MOST)
        return NOT_KNOWN;
    comms.shapes[comms.shape_count] = (struct shape){.size = size, .nodes = nodes};
    return comms.shape_count++;
}

/* On how many nodes the ranks are. */
static int nodes_of(MPI_Comm comm, struct group *group)
{
    int size = group->size;
    uint64_t serial = group->serial;
    enum members members = size > comms.ranks ? MEMBERS_UNKNOWN : members_find(comm, world, comms.ranks, size, to);
    group->is_world = members == MEMBERS_WORLD && !group->inter;
    if (members != MEMBERS_KNOWN)
        return members == MEMBERS_WORLD ? comms.nodes : NOT_KNOWN;
    int nodes = 0;
    for (int i = 0; i < size; i++) {
        int32_t node = node_of_rank[to[i]];
        nodes += node_seen[node] != serial + 1;
        node_seen[node] = serial + 1;
    }
    return nodes;
}

/* 8.6: the neighbours of a Cartesian topology are, for each dimension, the one before and the one after. */
static void find_cartesian(struct group *group, MPI_Comm comm)
{
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    group->in = group->out = 2 * dimensions;
    for (int d = 0; d < dimensions && d < 32; d++) {
        int before, after;
        PMPI_Cart_shift(comm, d, 1, &before, &after);
        group->absent |= (uint64_t)(before == MPI_PROC_NULL) << 2 * d;
        group->absent |= (uint64_t)(after == MPI_PROC_NULL) << (2 * d + 1);
    }
}

static void find_neighbours(struct group *group, MPI_Comm comm)
{
    int kind = MPI_UNDEFINED, weighted;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART)
        find_cartesian(group, comm);
    else if (kind == MPI_DIST_GRAPH)
        PMPI_Dist_graph_neighbors_count(comm, &group->in, &group->out, &weighted);
    else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, group->rank, &group->out);
        group->in = group->out;
    }
}

/* Under the lock. */
static void look_at(struct group *group, MPI_Comm comm)
{
    int inter;
    *group = (struct group){.serial = ++serials};
    PMPI_Comm_rank(comm, &group->rank);
    PMPI_Comm_size(comm, &group->size);
    PMPI_Comm_test_inter(comm, &inter);
    group->inter = inter;
    group->peers = group->size;
    if (inter)
        PMPI_Comm_remote_size(comm, &group->peers);
    else
        find_neighbours(group, comm);
    group->shape = shape_find(group->size, nodes_of(comm, group));
}

/* Looked at before by this or another thread, or now. More communicators at a time than there is room for are looked at
 * anew whenever they are used. */
static const struct group *find(MPI_Comm comm)
{
    struct group *group = NULL;
    int found = 0;
    pthread_mutex_lock(&lock);
    PMPI_Comm_get_attr(comm, keyval, &group, &found);
    if (!found) {
        int32_t i = first_free;
        group = i >= 0 ? &groups[i] : &no_room;
        first_free = i >= 0 ? next_free[i] : i;
        look_at(group, comm);
        if (group->shape >= 0)
            comms.shapes[group->shape].created++;
        PMPI_Comm_set_attr(comm, keyval, group);
    }
    if (group == &no_room) {
        group = &unkept;
        look_at(group, comm);
    }
    pthread_mutex_unlock(&lock);
    return group;
}

const struct group *comm_group(MPI_Comm comm)
{
    uint32_t slot = (uint32_t)((uint64_t)(uintptr_t)comm * UINT64_C(0x9e3779b97f4a7c15) >> 59);
    uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (cache[slot].comm == comm && cache[slot].generation == now)
        return cache[slot].group;
    const struct group *group = find(comm);
    if (group != &unkept) {
        cache[slot].comm = comm;
        cache[slot].generation = now;
        cache[slot].group = group;
    }
    return group;
}

int comm_world_rank(const struct group *group, MPI_Comm comm, int rank)
{
    if (group->is_world)
        return rank;
    uint32_t slot = (uint32_t)((group->serial * 31 + (uint64_t)rank) % RANKS_CACHED);
    if (ranks_cache[slot].serial != group->serial || ranks_cache[slot].rank != rank) {
        MPI_Group members;
        int world_rank = MPI_UNDEFINED;
        if (group->inter)
            PMPI_Comm_remote_group(comm, &members);
        else
            PMPI_Comm_group(comm, &members);
        PMPI_Group_translate_ranks(members, 1, &rank, world, &world_rank);
        PMPI_Group_free(&members);
        ranks_cache[slot].serial = group->serial;
        ranks_cache[slot].rank = rank;
        ranks_cache[slot].world_rank = world_rank == MPI_UNDEFINED ? NOT_KNOWN : world_rank;
    }
    return ranks_cache[slot].world_rank;
}

bool comms_agree(bool good)
{
    int mine = good, all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comms.own);
    return all != 0;
}

/* Numbers the nodes by their first ranks. */
static bool find_nodes(void)
{
    if (!comms_agree(node_of_rank != NULL && to != NULL && node_seen != NULL))
        return false;
    if (topology_start() != MPI_SUCCESS)
        return false;
    for (int rank = 0; rank < comms.ranks; rank++) {
        int first = topology_first_on_node(rank);
        node_of_rank[rank] = first == rank ? comms.nodes++ : node_of_rank[first];
    }
    comms.node = node_of_rank[comms.rank];
    return true;
}

bool comms_start(void)
{
    PMPI_Comm_dup(MPI_COMM_WORLD, &comms.own);
    PMPI_Comm_rank(comms.own, &comms.rank);
    PMPI_Comm_size(comms.own, &comms.ranks);
    size_t ranks = (size_t)comms.ranks;
    node_of_rank = malloc(ranks * sizeof *node_of_rank);
    to = malloc(ranks * sizeof *to);
    node_seen = calloc(ranks, sizeof *node_seen);
    if (!find_nodes())
        return false;
    for (int i = 0; i < GROUPS_MOST; i++)
        next_free[i] = i + 1 < GROUPS_MOST ? i + 1 : NOT_KNOWN;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL);
    comm_group(MPI_COMM_WORLD);
    comm_group(MPI_COMM_SELF);
    return true;
}

void comms_end(void)
{
    PMPI_Group_free(&world);
    PMPI_Comm_free(&comms.own);
}
