#include "peers.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/threads.h"
#include "node/crowd.h"
#include "node/pull.h"
#include "reserve.h"

enum { FIRST_LINES = 1, MORE_LINES = 15 };
_Static_assert(SLOTS_TOGETHER == FIRST_LINES + MORE_LINES * ((1 << (SLABS_MOST - 1)) - 1), "a slot for each line");
_Static_assert(SLOTS_TOGETHER *FABRIC_TAGS < FABRIC_OWN, "each slot has tags of its own");

static struct peers *all_peers; /* that may be found again: as long as one thread calls MPI at a time */
static int private_count;
static int64_t last_serial; /* of all on this process */
/* Nanoseconds that it took, the last time, to make a private communicator, and a slab of one that is there; at first what is usual. */
static int64_t cost_of_one = 500 * 1000, cost_of_slab = 100 * 1000;

bool peers_may_add(void)
{
#ifdef UNISONO_SIMULATED
    return true; /* ranks may share these variables */
#else
    return __atomic_load_n(&private_count, __ATOMIC_RELAXED) < PRIVATE_MOST;
#endif
}

void peers_added(int count)
{
    __atomic_add_fetch(&private_count, count, __ATOMIC_RELAXED);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Whether communicators may have things in common. */
static bool in_common(void)
{
#ifdef UNISONO_SIMULATED
    return false; /* ranks may share these variables */
#else
    return threads_level() != MPI_THREAD_MULTIPLE && !failure_tolerated();
#endif
}

static struct peers *find(const int *world, int ranks, const MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    for (struct peers *peers = all_peers; peers != NULL; peers = peers->next)
        if (peers->ranks == ranks && peers->topology.rank == rank &&
            memcmp(peers->world, world, (size_t)ranks * sizeof *world) == 0)
            return peers;
    return NULL;
}

static void discard(struct peers *peers)
{
    if (peers->kept != NULL)
        peers->kept_free(peers->kept);
    topology_free(&peers->topology);
    reserve_put(peers->world);
    free(peers->process);
    reserve_put(peers->slots);
    reserve_put(peers);
}

static void list(struct peers *peers)
{
    peers->next = all_peers;
    peers->is_listed = true;
    all_peers = peers;
}

static void unlist(struct peers *peers)
{
    struct peers **link = &all_peers;
    if (!peers->is_listed)
        return;
    while (*link != peers)
        link = &(*link)->next;
    *link = peers->next;
    peers->is_listed = false;
}

/* Takes over `world`, whatever comes of it. */
static struct peers *create(int *world, int ranks, MPI_Comm comm)
{
    struct peers *peers = reserve_get(sizeof *peers);
    *peers = (struct peers){
        .users = 1, .ranks = ranks, .world = world, .comm = MPI_COMM_NULL, .serial = -1, .free_slot = -1};
    if (!topology_create(&peers->topology, comm)) {
        discard(peers);
        return NULL;
    }
    if (in_common())
        list(peers);
    return peers;
}

bool peers_were_there(MPI_Comm comm, bool at_any_cost)
{
    int ranks, inter = 1;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
        return false;
    PMPI_Comm_size(comm, &ranks);
    int *world = reserve_get((size_t)ranks * sizeof *world);
    const enum members members = topology_world_ranks(comm, ranks, world);
    const bool known = members == MEMBERS_UNKNOWN ? at_any_cost && topology_were_there(comm, ranks, world)
                                                  : members != MEMBERS_FOREIGN;
    reserve_put(world);
    return known;
}

struct peers *peers_find(MPI_Comm comm)
{
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    int *world = reserve_get((size_t)ranks * sizeof *world);
    const enum members members = topology_world_ranks(comm, ranks, world);
    if (members != MEMBERS_WORLD && members != MEMBERS_KNOWN) {
        reserve_put(world);
        return NULL;
    }
    struct peers *found = in_common() ? find(world, ranks, comm) : NULL;
    if (found == NULL)
        return create(world, ranks, comm);
    reserve_put(world);
    found->users++;
    return found;
}

void peers_leave(struct peers *peers)
{
    if (--peers->users > 0)
        return;
    unlist(peers);
    for (int i = 0; i < peers->slab_count; i++)
        segment_free(&peers->slabs[i]);
    segment_free(&peers->cells.segment);
    failure_free(peers->failure);
    if (peers->comm != MPI_COMM_NULL) {
        PMPI_Comm_free(&peers->comm);
        peers_added(-1);
    }
    discard(peers);
}

/* Others have lost what this rank still has: a communicator may end later on one rank than on another. */
static struct peers *renew(struct peers *old, MPI_Comm user)
{
    int *world = reserve_get((size_t)old->ranks * sizeof *world);
    memcpy(world, old->world, (size_t)old->ranks * sizeof *world);
    unlist(old);
    struct peers *peers = create(world, old->ranks, user);
    if (peers != NULL) /* its ranks are known: `old` has them */
        peers_leave(old);
    return peers;
}

static bool agreed(MPI_Comm user, bool mine)
{
    int good = mine, all = 0;
    return PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, user) == MPI_SUCCESS && all;
}

static bool make(struct peers *peers, MPI_Comm user)
{
    const struct topology *topology = &peers->topology;
    peers->process = calloc((size_t)topology->locals, sizeof *peers->process);
    peers->failure = failure_create();
    /* Not a dup: that would run the attribute callbacks of the program. */
    bool good = PMPI_Comm_split(user, 0, topology->rank, &peers->comm) == MPI_SUCCESS;
    if (!good)
        peers->comm = MPI_COMM_NULL;
    good = good && peers->process != NULL && peers->failure != NULL;
    good = agreed(user, good);
    if (!good && peers->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&peers->comm);
    if (!good)
        return false;
    peers_added(1);
    failure_listen(peers->failure, peers->comm);
    for (int i = 0; i < topology->locals; i++)
        peers->process[i] = pull_process(peers->world[topology_rank(topology, topology->node, i)]);
    return true;
}

static int lines_in(int slab)
{
    return slab == 0 ? FIRST_LINES : MORE_LINES << (slab - 1);
}

/* The slab of a slot, and the slot's place in it. */
static int slab_of(int slot, int *place)
{
    int slab = 0;
    for (*place = slot; *place >= lines_in(slab); slab++)
        *place -= lines_in(slab);
    return slab;
}

/* Whether a slot's lines have to be made: the same on all ranks. */
static bool needs_slab(const struct peers *peers, int slot)
{
    int place, slab = slab_of(slot, &place);
    return peers->topology.most > 1 && slab >= peers->slab_count && slab < SLABS_MOST;
}

/* The next slab, and where nodes depend on each other the cells too: whether all nodes with several ranks have them. */
static void share(struct peers *peers, MPI_Comm user, int slot)
{
    struct coll_comm here = {.comm = peers->comm,
                             .rank = peers->topology.rank,
                             .ranks = peers->ranks,
                             .topology = peers->topology,
                             .fabric = {.comm = peers->comm, .failure = peers->failure, .tags = slot * FABRIC_TAGS}};
    const struct topology *topology = &peers->topology;
    int place, slab = slab_of(slot, &place);
    if (!needs_slab(peers, slot))
        return;
    struct segment *segment = &peers->slabs[slab];
    int64_t bytes = lines_in(slab) * (int64_t)sizeof(struct shared_rank);
    bool good = topology->locals == 1 || segment_create(segment, &here, bytes);
    if (good && slab == 0 && topology->nodes > 1 && topology->locals > 1) {
        good = segment_create(&peers->cells.segment, &here, cells_arrange(&peers->cells, topology->locals));
        peers->cells.made = good ? CELLS_MADE : CELLS_NONE;
    }
    if (agreed(user, good))
        peers->slab_count++;
    else
        segment_free(segment);
}

static void take_slot(struct peers *peers, int slot)
{
    if (slot == peers->free_slot) {
        peers->free_slot = peers->slots[slot].next_free;
        return;
    }
    struct slot *more = reserve_get(((size_t)slot + 1) * sizeof *more);
    if (peers->slot_count > 0)
        memcpy(more, peers->slots, (size_t)peers->slot_count * sizeof *more);
    reserve_put(peers->slots);
    peers->slots = more;
    for (; peers->slot_count <= slot; peers->slot_count++)
        more[peers->slot_count] = (struct slot){.next_free = -1};
}

void peers_give(struct peers *peers, int slot, uint64_t step, uint64_t known)
{
    peers->slots[slot] = (struct slot){step, known, peers->free_slot};
    peers->free_slot = slot;
}

bool peers_have_lines(const struct peers *peers, int slot)
{
    int place;
    return slab_of(slot, &place) < peers->slab_count;
}

struct segment peers_lines(const struct peers *peers, int slot)
{
    int place, slab = slab_of(slot, &place);
    if (slab >= peers->slab_count || peers->slabs[slab].base == NULL)
        return (struct segment){0};
    return (struct segment){.base = peers->slabs[slab].base + place * (int64_t)sizeof(struct shared_rank),
                            .each = peers->slabs[slab].each};
}

/* What each rank says; the least of each counts, so the greatest of what is said negative. */
enum {
    GOOD,
    MAY_ADD,
    ROOMY,
    LIVED,
    COST,
    COST_SLAB,
    SERIAL,
    SERIAL_MOST,
    LAST_MOST,
    SLOT,
    SLOT_MOST,
    SLOTS_MOST,
    TERMS
};

int peers_join(struct peers **given, MPI_Comm user, bool good, int64_t lived, int *slot)
{
    struct peers *peers = *given;
    if (in_common() && !peers->is_listed) { /* renewed meanwhile */
        struct peers *newer = find(peers->world, peers->ranks, user);
        if (newer != NULL) {
            newer->users++;
            peers_leave(peers);
            *given = peers = newer;
        }
    }
    int64_t serial = failure_known(peers->failure) ? -1 : peers->serial;
    int64_t begun = now(), free_slot = peers->free_slot >= 0 ? peers->free_slot : peers->slot_count, all[TERMS];
    int64_t mine[TERMS] = {[GOOD] = good && !reserve_is_touched(),
                           [MAY_ADD] = peers_may_add(),
                           [ROOMY] = !crowd_counts(),
                           [LIVED] = lived < PEERS_NOW - peers->waited ? lived + peers->waited : PEERS_NOW,
                           [COST] = -__atomic_load_n(&cost_of_one, __ATOMIC_RELAXED),
                           [COST_SLAB] = -__atomic_load_n(&cost_of_slab, __ATOMIC_RELAXED),
                           [SERIAL] = serial,
                           [SERIAL_MOST] = -serial,
                           [LAST_MOST] = -__atomic_load_n(&last_serial, __ATOMIC_RELAXED),
                           [SLOT] = free_slot,
                           [SLOT_MOST] = -free_slot,
                           [SLOTS_MOST] = -peers->slot_count};
    *slot = -1;
    int error = PMPI_Allreduce(mine, all, TERMS, MPI_INT64_T, MPI_MIN, user);
    if (error != MPI_SUCCESS || !all[GOOD])
        return error ? error : MPI_ERR_NO_MEM;
    int which = (int)(all[SLOT] == -all[SLOT_MOST] ? all[SLOT] : -all[SLOTS_MOST]);
    bool makes = all[SERIAL] < 0 || all[SERIAL] != -all[SERIAL_MOST];
    const bool grows = !makes && which < SLOTS_TOGETHER && needs_slab(peers, which);
    if ((makes || grows) && all[LIVED] / PEERS_REPAID < -all[makes ? COST : COST_SLAB]) {
        peers->waited = mine[LIVED];
        return MPI_SUCCESS;
    }
    if (makes) {
        if (!all[MAY_ADD])
            return MPI_ERR_OTHER;
        if (peers->serial >= 0)
            *given = peers = renew(peers, user);
        if (!make(peers, user))
            return MPI_ERR_OTHER;
        which = 0;
        peers->serial = -all[LAST_MOST] + 1;
        peers->crowded = !all[ROOMY];
        __atomic_store_n(&last_serial, peers->serial, __ATOMIC_RELAXED);
    }
    if (which >= SLOTS_TOGETHER)
        return MPI_ERR_OTHER;
    take_slot(peers, which);
    share(peers, user, which);
    if (makes || grows) /* that time is spent */
        peers->waited = 0;
    if (makes) /* cells, and queues, come later and take as long */
        __atomic_store_n(&cost_of_one, 2 * (now() - begun), __ATOMIC_RELAXED);
    if (grows)
        __atomic_store_n(&cost_of_slab, now() - begun, __ATOMIC_RELAXED);
    *slot = which;
    return MPI_SUCCESS;
}
