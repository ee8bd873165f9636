#include "topology.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinates.h"
#include "members.h"
#include "node/crowd.h"
#include "node/pull.h"
#include "node/room.h"
#include "reserve.h"

static MPI_Group world = MPI_GROUP_NULL;
static int world_ranks;
static int *world_node;               /* rank in the world -> its node's lowest rank in the world */
static int *world_place;              /* rank in the world -> where its node is; -1: not known */
static struct torus machine;          /* of no dimensions: nothing is known */
static const char *told_by;           /* who knew */
static struct address *world_address; /* rank in the world -> the switches above its node; NULL: not known of all */
static double taper;
static bool heeds_places = true;

/* What all ranks of a communicator have alike, and every process once for all communicators of the world's ranks in their
   order. */
struct tables {
    int users; /* under `lock` */
    int numbers[];
};

static struct topology of_world;                         /* as it is handed out; `tables` is NULL before */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* users, of_world */

/* This node's number, in order of the lowest ranks. */
static int number_of_node(const int *node, int first)
{
    int number = 0;
    for (int rank = 0; rank < first; rank++)
        number += node[rank] == rank;
    return number;
}

void topology_heed_places(bool heed)
{
    heeds_places = heed;
}

/* The addresses of all ranks' nodes, where all are known; else NULL. */
static int share_addresses(const struct whereabouts *found, struct address **all)
{
    int rank, error;
    *all = NULL;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool known = found->address.known && heeds_places;
    struct address *room = known ? malloc((size_t)world_ranks * sizeof *room) : NULL;
    /* The lowest rank whose node is not known, and whether any has no memory. */
    int own[2] = {known ? world_ranks : rank, known == (room != NULL)}, least[2] = {0};
    error = PMPI_Allreduce(own, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (error == MPI_SUCCESS && least[0] == world_ranks && least[1]) {
        for (int i = 0; i < world_ranks; i++)
            room[i] = found->address;
        error = PMPI_Allgather(&found->address, sizeof *room, MPI_BYTE, room, sizeof *room, MPI_BYTE, MPI_COMM_WORLD);
        *all = room;
        room = NULL;
    } else if (error == MPI_SUCCESS && rank == 0 && found->says_switches && heeds_places && least[0] < world_ranks) {
        fprintf(stderr, "unisono: %s: says nothing of the node of rank %d; nodes are taken as equally near\n",
                found->teller, least[0]);
    }
    free(room);
    return error;
}

int topology_start(void)
{
    int rank, here;
    if (world_node != NULL)
        return MPI_SUCCESS;
    PMPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm near;
    int error = PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &near);
    if (error != MPI_SUCCESS)
        return error;
    int first = rank;
    PMPI_Bcast(&first, 1, MPI_INT, 0, near);
    PMPI_Comm_size(near, &here);
    if (here == world_ranks && getenv("UNISONO_FAKE_NODES") != NULL)
        first = fake_first(getenv("UNISONO_FAKE_NODES"), rank);
    error = crowd_start(near);
    if (error == MPI_SUCCESS)
        error = levels_start(near, rank, first);
    if (error == MPI_SUCCESS)
        error = room_start(near);
    if (error == MPI_SUCCESS)
        error = pull_start(near);
    PMPI_Comm_free(&near);
    if (error != MPI_SUCCESS)
        return error;
    size_t room = (size_t)world_ranks;
    int *node = malloc(2 * room * sizeof *node), *place = node;
    int good = node != NULL, all = 0;
    struct whereabouts found_out;
    struct address *addresses = NULL;
    PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (good)
        place = node + room;
    error = all ? PMPI_Allgather(&first, 1, MPI_INT, node, 1, MPI_INT, MPI_COMM_WORLD) : MPI_ERR_NO_MEM;
    if (error == MPI_SUCCESS)
        error = coordinates_start(number_of_node(node, first), &found_out, place);
    if (error == MPI_SUCCESS)
        error = share_addresses(&found_out, &addresses);
    if (error == MPI_SUCCESS)
        error = PMPI_Comm_group(MPI_COMM_WORLD, &world);
    if (error != MPI_SUCCESS) {
        free(addresses);
        free(node);
        return error;
    }
    /* Only now: under a simulator ranks may share these variables. */
    machine = found_out.machine;
    told_by = found_out.teller;
    world_address = addresses;
    taper = found_out.taper;
    world_node = node;
    world_place = place;
    return MPI_SUCCESS;
}

void topology_end(void)
{
    topology_free(&of_world);
    if (world != MPI_GROUP_NULL)
        PMPI_Group_free(&world);
    free(world_node); /* the start of the block that both are in */
    world_node = world_place = NULL;
    levels_end();
    free(world_address);
    world_address = NULL;
    machine.dimensions = 0;
    room_end();
    pull_end();
}

/* How many groups of nodes there are, from the outermost on: those of the world, which have been looked at by now or not. */
static void describe_groups(char *text, size_t bytes)
{
    struct topology all;
    bool good = topology_create(&all, MPI_COMM_WORLD);
    int levels = good && all.places != NULL ? all.places->levels : 0;
    size_t used = (size_t)snprintf(text, bytes, "; groups of nodes: %s", levels > 0 ? "" : "one");
    for (int level = 0; level < levels && used < bytes; level++)
        used +=
            (size_t)snprintf(text + used, bytes - used, level == 0 ? "%d" : ", in these %d", all.places->groups[level]);
    if (used < bytes)
        snprintf(text + used, bytes - used, ", from %s", told_by);
    if (good)
        topology_free(&all);
}

void topology_describe(char *text, size_t bytes)
{
    int nodes = 0, used;
    for (int i = 0; i < world_ranks; i++)
        nodes += world_node[i] == i;
    used = snprintf(text, bytes, "nodes: %d; ", nodes);
    used += levels_describe(text + used, bytes - (size_t)used);
    used += snprintf(text + used, bytes - (size_t)used, "; coordinates: %s", machine.dimensions > 0 ? "" : "none");
    for (int d = 0; d < machine.dimensions && (size_t)used < bytes; d++)
        used += snprintf(text + used, bytes - (size_t)used, d == 0 ? "%d" : "x%d", machine.extent[d]);
    if (machine.dimensions > 0 && (size_t)used < bytes)
        snprintf(text + used, bytes - (size_t)used, ", from %s", told_by);
    if (world_address != NULL && (size_t)used < bytes)
        describe_groups(text + used, bytes - (size_t)used);
}

int topology_first_on_node(int rank)
{
    return world_node[rank];
}

/* Numbers found by numbers: open addressing, so that a small communicator costs nothing that the world's size says. */
struct numbers {
    int *key, *value; /* key -1: free */
    uint32_t mask;
};

static size_t numbers_room(int keys)
{
    size_t room = 4;
    while (room < 2 * (size_t)keys)
        room *= 2;
    return room;
}

static void numbers_clear(struct numbers *numbers)
{
    memset(numbers->key, -1, ((size_t)numbers->mask + 1) * sizeof *numbers->key);
}

/* The place of this key's value, which is -1 at first. */
static int *numbers_at(const struct numbers *numbers, int key)
{
    uint32_t at = (uint32_t)key * UINT32_C(0x9e3779b1);
    for (at ^= at >> 15;; at++) {
        if (numbers->key[at & numbers->mask] == key)
            return &numbers->value[at & numbers->mask];
        if (numbers->key[at & numbers->mask] == -1)
            break;
    }
    numbers->key[at & numbers->mask] = key;
    numbers->value[at & numbers->mask] = -1;
    return &numbers->value[at & numbers->mask];
}

/* Numbers the nodes by their lowest ranks here and counts the ranks of each into first[node + 1]. */
static int number_nodes(const int *theirs, int ranks, int *node_of, int *local_of, int *first, struct numbers *seen)
{
    int nodes = 0;
    numbers_clear(seen);
    for (int rank = 0; rank < ranks; rank++) {
        int *node = numbers_at(seen, world_node[theirs[rank]]);
        if (*node < 0) {
            *node = nodes++;
            first[nodes] = 0;
        }
        node_of[rank] = *node;
        local_of[rank] = first[*node + 1]++;
    }
    first[0] = 0;
    return nodes;
}

/* What this rank alone has so. */
static void place_rank(struct topology *topology, int rank)
{
    topology->rank = rank;
    topology->node = topology->node_of[rank];
    topology->local = topology->local_of[rank];
    topology->locals = topology_locals(topology, topology->node);
}

static void describe(struct topology *topology, const int *first, const int *members)
{
    topology->most = topology->least = first[1];
    for (int node = 1; node < topology->nodes; node++) {
        int here = topology_locals(topology, node);
        topology->most = here > topology->most ? here : topology->most;
        topology->least = here < topology->least ? here : topology->least;
    }
    topology->regular = topology->most == topology->least;
    topology->in_order = true;
    for (int i = 0; i < topology->ranks; i++)
        topology->in_order = topology->in_order && members[i] == i;
    topology->blocked = topology->regular && topology->in_order;
}

/* The nodes on the machine; no cuboid is no mistake. */
static void place_nodes(struct topology *topology, const int *theirs, int *at)
{
    if (machine.dimensions == 0)
        return;
    for (int node = 0; node < topology->nodes; node++)
        at[node] = world_place[theirs[topology_rank(topology, node, 0)]];
    cuboid_create(&topology->cuboid, &machine, at, topology->nodes);
}

/* Which of them are near one another. */
static void group_nodes(struct topology *topology, const int *theirs)
{
    if (world_address == NULL)
        return;
    struct address *addresses = reserve_get((size_t)topology->nodes * sizeof *addresses);
    for (int node = 0; node < topology->nodes; node++)
        addresses[node] = world_address[theirs[topology_rank(topology, node, 0)]];
    topology->places = places_create(addresses, topology->nodes, taper);
    reserve_put(addresses);
}

/* `work`: 2 for each rank, and twice the room of `seen`; the first ranks of it are the ranks' numbers in the world. */
static bool fill(struct topology *topology, int ranks, int *work, size_t room)
{
    size_t each = (size_t)ranks;
    struct tables *tables = reserve_get(sizeof *tables + (4 * each + 1) * sizeof(int));
    tables->users = 1;
    int *node_of = tables->numbers, *local_of = node_of + each, *members = local_of + each;
    int *first = members + each, *more = work + each, *places = more + each;
    struct numbers seen = {.key = places, .value = places + room, .mask = (uint32_t)(room - 1)};
    int nodes = number_nodes(work, ranks, node_of, local_of, first, &seen);
    for (int node = 0; node < nodes; node++)
        first[node + 1] += first[node];
    for (int i = 0; i < ranks; i++)
        members[first[node_of[i]] + local_of[i]] = i;
    *topology = (struct topology){.ranks = ranks,
                                  .nodes = nodes,
                                  .node_of = node_of,
                                  .local_of = local_of,
                                  .first = first,
                                  .members = members,
                                  .tables = tables};
    describe(topology, first, members);
    place_nodes(topology, work, more);
    group_nodes(topology, work);
    if (nodes == 1)
        levels_find(&topology->levels, work, ranks);
    return true;
}

/* The world's own tables, made at the first call. */
static bool share(struct topology *topology, int *work, size_t room)
{
    pthread_mutex_lock(&lock);
    bool good = of_world.tables != NULL || fill(&of_world, world_ranks, work, room);
    if (good) {
        *topology = of_world;
        topology->tables->users++;
    }
    pthread_mutex_unlock(&lock);
    return good;
}

bool topology_create(struct topology *topology, MPI_Comm comm)
{
    int ranks, rank;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(comm, &rank);
    size_t room = numbers_room(ranks);
    int *work = reserve_get((2 * (size_t)ranks + 2 * room) * sizeof *work);
    enum members members = members_find(comm, world, world_ranks, ranks, work);
    bool good = members == MEMBERS_WORLD ? share(topology, work, room)
                                         : members == MEMBERS_KNOWN && fill(topology, ranks, work, room);
    reserve_put(work);
    if (good)
        place_rank(topology, rank);
    return good;
}

enum members topology_world_ranks(MPI_Comm comm, int ranks, int *theirs)
{
    return members_find(comm, world, world_ranks, ranks, theirs);
}

bool topology_were_there(MPI_Comm comm, int ranks, int *theirs)
{
    return members_were_there(comm, world, ranks, theirs);
}

static void release(struct topology *topology)
{
    if (topology->tables != NULL && --topology->tables->users == 0) {
        cuboid_free(&topology->cuboid);
        places_free(topology->places);
        levels_free(&topology->levels);
        reserve_put(topology->tables);
    }
    *topology = (struct topology){0};
}

void topology_free(struct topology *topology)
{
    pthread_mutex_lock(&lock);
    release(topology);
    pthread_mutex_unlock(&lock);
}
