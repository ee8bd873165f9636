#include "trial_task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "node/copy.h"
#include "node/node.h"
#include "reduction.h"
#include "trial.h"
#include "trial_file.h"
#include "trial_found.h"
#include "trial_streams.h"
#include "trial_time.h"

static const int64_t usual_block = 128 << 10; /* of alltoallv, gatherv and scatterv */
/* Bytes of each of the two buffers; of all ranks of the node, for one of the two. */
static const int64_t room_most = 8 << 20, room_least = 1 << 20, node_most = 256 << 20;
static const double seconds_most = 0.12; /* of all together */
static const double hopeless = 6;        /* times the quickest by the models: not tried */
enum { SHORT = 4 << 10, CALLS_MIDDLE = 4, MIDDLE = 128 << 10, ATTEMPTS = 3 };

/* What this start finds. */
static struct trial latest;

/* Where the quickest of odd and of even rounds differ by more, something else disturbed the machine. */
static const double alike = 1.25;

static const enum collective tried[] = {COLL_BCAST,
                                        COLL_ALLREDUCE,
                                        COLL_REDUCE,
                                        COLL_ALLTOALL,
                                        COLL_ALLGATHER,
                                        COLL_GATHER,
                                        COLL_SCATTER,
                                        COLL_REDUCE_SCATTER_BLOCK,
                                        COLL_REDUCE_SCATTER,
                                        COLL_GATHERV,
                                        COLL_SCATTERV,
                                        COLL_SCAN,
                                        COLL_EXSCAN,
                                        COLL_ALLTOALLW,
                                        COLL_IALLREDUCE,
                                        COLL_IALLTOALL,
                                        COLL_IBCAST,
                                        COLL_IREDUCE,
                                        COLL_NEIGHBOR_ALLTOALLV};
enum { TRIED = sizeof tried / sizeof *tried };

_Static_assert(COLL_ALLGATHERV == COLL_ALLGATHER + 1 && COLL_ALLTOALLV == COLL_ALLTOALL + 1, "set_vector()");

/* Whether there is a collective with blocks of different lengths that goes the same ways. */
static bool has_vector(enum collective collective)
{
    return collective == COLL_ALLTOALL || collective == COLL_ALLGATHER;
}

static int64_t room_bytes(const struct coll_comm *comm)
{
    int64_t share = node_most / comm->ranks;
    return share < room_least ? room_least : share < room_most ? share : room_most;
}

static void add(struct task *task, int index)
{
    task->algorithm[task->count++] = index;
}

/* By how much the model was wrong of it at the last size before that was tried. */
static double factor_before(int index, int size)
{
    for (; size > 0; size--)
        for (const struct trial *trial = &latest; trial != NULL; trial = trial == &latest ? &trial_found : NULL)
            if (trial->factor[size - 1][index] > 0)
                return (double)trial->factor[size - 1][index];
    return 1;
}

/* What may be the quickest by the models, and the MPI library's own. False: there is no choice. */
static bool add_all(struct task *task, const struct coll_comm *comm, int size)
{
    double least = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < TRIAL_ALGORITHMS && algorithm_at(i) != NULL; i++) {
            const struct algorithm *algorithm = algorithm_at(i);
            if (algorithm->collective != task->call.collective || !algorithm_applies(algorithm, comm, &task->shape))
                continue;
            double cost = algorithm->cost(comm, &task->shape) * factor_before(i, size);
            if (pass == 0)
                least = least == 0 || cost < least ? cost : least;
            else if (cost < hopeless * least)
                add(task, i);
        }
    if (task->count > 0 && trial_has_rival(task->call.collective))
        add(task, trial_rival_of(task->call.collective));
    return task->count > 1;
}

/* False: too long for the buffers, or there is no choice. The same on all ranks. */
static bool set_up(struct task *task, const struct coll_comm *comm, enum collective collective, int size,
                   const struct trial_room *room)
{
    const bool sums = collective_scatters_sum(collective);
    const int64_t bytes = trial_sizes[size], element = sizeof(double);
    const bool no_size = collective_has_no_size(collective);
    if (task_is_typed(collective))
        return task_set_up_typed(task, collective, comm, bytes, room_bytes(comm), room) && add_all(task, comm, size);
    if (no_size && bytes != usual_block)
        return false;
    if (bytes * (has_vector(collective) || task_is_rooted(collective) || collective == COLL_REDUCE_SCATTER_BLOCK ||
                         collective == COLL_IALLTOALL
                     ? comm->ranks
                     : 1) >
        room_bytes(comm))
        return false;
    *task =
        (struct task){.room = room, .shape = {.bytes = no_size ? 0 : bytes, .element = element, .commutative = true}};
    task->call = (struct call){.collective = collective,
                               .bytes = no_size ? 0 : bytes,
                               .own = bytes,
                               .send = room->send,
                               .receive = room->receive,
                               .send_bytes = room->bytes,
                               .send_at = room->at,
                               .receive_bytes = room->bytes,
                               .receive_at = room->at};
    task->calls = bytes <= SHORT ? TRIAL_CALLS_MOST : bytes <= MIDDLE ? CALLS_MIDDLE : TRIAL_CALLS_LONG;
    if (collective_reduces(collective)) {
        if (!reduction_set(&task->call.reduction, MPI_DOUBLE, MPI_SUM))
            return false;
        task->call.count = bytes / element;
        if (((collective == COLL_REDUCE || collective == COLL_IREDUCE) && comm->rank != 0) ||
            (collective == COLL_EXSCAN && comm->rank == 0))
            task->call.receive = NULL;
    }
    if (comm->rank != 0 && (collective == COLL_GATHER || collective == COLL_GATHERV))
        task->call.receive = NULL;
    for (int rank = 0; rank < comm->ranks && no_size; rank++) {
        room->counts[rank] = (int)bytes;
        room->bytes[rank] = bytes;
        room->at[rank] = rank * bytes;
        room->places[rank] = (int)room->at[rank];
    }
    for (int rank = 0; rank < comm->ranks && sums; rank++) {
        int64_t whole = collective == COLL_REDUCE_SCATTER ? bytes / element / comm->ranks : bytes / element;
        whole += rank == 0 && collective == COLL_REDUCE_SCATTER ? bytes / element % comm->ranks : 0;
        room->counts[rank] = (int)whole;
        room->bytes[rank] = whole * element;
        room->at[rank] = rank == 0 ? 0 : room->at[rank - 1] + room->bytes[rank - 1];
    }
    if (comm->rank != 0 && (collective == COLL_SCATTER || collective == COLL_SCATTERV))
        task->call.send = NULL;
    return add_all(task, comm, size);
}

static void set(const struct coll_comm *comm, int index, int size, const struct shape *shape, double seconds)
{
    double cost = algorithm_at(index)->cost(comm, shape);
    latest.factor[size][index] = trial_bounded(cost > 0 ? seconds / cost : HUGE_VAL);
}

/* What has the same name for blocks of different lengths takes as long. The choice for alltoallv knows no size: one that is
 * usual speaks for all. */
static void set_vector(const struct coll_comm *comm, int index, int size, const struct shape *shape, double seconds)
{
    enum collective plain = algorithm_at(index)->collective, vector = plain + 1;
    if (!has_vector(plain) || (plain == COLL_ALLTOALL && trial_sizes[size] != usual_block))
        return;
    const char *name = algorithm_at(index)->name + strlen(collective_names[plain]) + 1;
    const struct algorithm *other = algorithm_find(vector, name);
    const struct shape its = {.bytes = plain == COLL_ALLTOALL ? 0 : shape->bytes, .commutative = true};
    for (int i = 0; i < TRIAL_ALGORITHMS && algorithm_at(i) != NULL; i++)
        if (other != NULL && algorithm_at(i) == other && algorithm_applies(other, comm, &its))
            set(comm, i, size, &its, seconds);
}

/* Whether no rounds took longer than others do. */
static bool is_calm(const struct task *task, double least)
{
    for (int i = 0; i < task->count; i++) {
        double one = trial_seconds(task, i, 0), other = trial_seconds(task, i, 1);
        if (fmin(one, other) < 2 * least && fmax(one, other) > alike * fmin(one, other))
            return false;
    }
    return true;
}

/* The slowest rank's time counts. False: the machine was disturbed; with `anyway` it is noted all the same, as another start may
 * find less. */
static bool note(const struct task *task, const struct coll_comm *comm, int size, bool anyway)
{
    double least = HUGE_VAL;
    if (!trial_share_times(task, comm))
        return true;
    for (int i = 0; i < task->count; i++)
        least = fmin(least, fmin(trial_seconds(task, i, 0), trial_seconds(task, i, 1)));
    const enum collective collective = task->call.collective;
    const bool calm = is_calm(task, least);
    if (!calm && !anyway)
        return false;
    for (int i = 0; i < TRIAL_ALGORITHMS && algorithm_at(i) != NULL; i++)
        if (algorithm_at(i)->collective == collective && algorithm_applies(algorithm_at(i), comm, &task->shape))
            set(comm, i, size, &task->shape, hopeless * least); /* those that were not tried */
    double ours = HUGE_VAL;
    for (int i = 0; i < task->count; i++) {
        double seconds = fmin(trial_seconds(task, i, 0), trial_seconds(task, i, 1));
        if (task->algorithm[i] == trial_rival_of(collective)) { /* the last */
            latest.mpis[size][collective] = (float)seconds;
            continue;
        }
        ours = fmin(ours, seconds);
        set(comm, task->algorithm[i], size, &task->shape, seconds);
        set_vector(comm, task->algorithm[i], size, &task->shape, seconds);
    }
    latest.ours[size][collective] = (float)ours;
    return calm;
}

/* Of rank 0, in seconds. */
struct watch {
    double begun, last; /* when it was looked at */
    double longest;     /* between two looks */
};

/* Rank 0 looks at its clock for all, between two sizes of a collective: whether what takes as long as the longest one yet would
 * still end in time. The first is tried in any case, so that every start gets on. */
static bool has_time(const struct coll_comm *comm, struct watch *watch)
{
    const double now = PMPI_Wtime();
    watch->longest = fmax(watch->longest, now - watch->last);
    watch->last = now;
    int more = now - watch->begun + watch->longest < seconds_most;
    return PMPI_Bcast(&more, 1, MPI_INT, 0, comm->comm) == MPI_SUCCESS && more;
}

/* Scans, which few programs call much, leave their time at every second size to the others. */
static bool is_tried_at(enum collective collective, int size)
{
    return !collective_scans(collective) || size % 2 == 1;
}

/* One collective at one size, a few times where the machine is disturbed. Whether it could be told. */
static bool try_one(const struct task *task, struct coll_comm *comm, int size, struct watch *watch)
{
    bool told = false;
    for (int attempt = 0; attempt < ATTEMPTS && !told && has_time(comm, watch); attempt++) {
        trial_time(task, comm);
        told = note(task, comm, size, attempt == ATTEMPTS - 1);
    }
    return told;
}

/* Those first of which no start before had the time for. Whether most could be told; *again_too: some were tried that had been before,
   or nothing else is left. */
static bool try_all(struct coll_comm *comm, const struct trial_room *room, bool *again_too)
{
    const double now = PMPI_Wtime();
    struct watch watch = {.begun = now, .last = now};
    int asked = 0, answered = 0;
    *again_too = true;
    for (int again = 0; again < 2; again++)
        for (int size = 0; size < TRIAL_SIZES; size++)
            for (int i = 0; i < TRIED; i++) {
                struct task task;
                const bool known = trial_found.ours[size][tried[i]] > 0;
                if (known != (again == 1) || !is_tried_at(tried[i], size) ||
                    !set_up(&task, comm, tried[i], size, room) || !has_time(comm, &watch))
                    continue;
                asked++;
                answered += try_one(&task, comm, size, &watch);
                *again_too = known;
            }
    return answered > asked / 2;
}

static void *room_of(int64_t bytes)
{
    void *room = malloc((size_t)bytes);
    if (room != NULL)
        memset(room, 0, (size_t)bytes);
    return room;
}

/* Whether this rank will have the memory that algorithms take for a call. One that has none is waited for: hence it is
 * asked before. */
static bool has_scratch(const struct coll_comm *comm)
{
    int64_t most = 1;
    for (int i = 0; i < TRIAL_ALGORITHMS && algorithm_at(i) != NULL; i++)
        for (int size = 0; size < TRIAL_SIZES && trial_sizes[size] <= room_bytes(comm); size++) {
            const struct algorithm *algorithm = algorithm_at(i);
            const struct shape shape = {.bytes = trial_sizes[size], .element = sizeof(double), .commutative = true};
            if (algorithm->scratch == NULL || !algorithm_applies(algorithm, comm, &shape))
                continue;
            int64_t takes = algorithm->scratch(comm, &shape);
            most = takes > most ? takes : most;
        }
    return coll_scratch_would(2 * most); /* what earlier calls took is kept */
}

static bool on_all(const struct coll_comm *comm, bool mine)
{
    int good = mine, all = 0;
    return PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm->comm) == MPI_SUCCESS && all;
}

/* Whether most of it could be told. Collective, and the same on all ranks, as is *again_too. */
static bool try_now(struct coll_comm *world, bool *again_too)
{
    const size_t blocks = (size_t)(world->ranks > 2 * DIMENSIONS ? world->ranks : 2 * DIMENSIONS);
    struct trial_room room = {.send = room_of(room_bytes(world)),
                              .receive = room_of(room_bytes(world)),
                              .counts = malloc(2 * blocks * sizeof(int)),
                              .bytes = malloc(2 * blocks * sizeof(int64_t)),
                              .types = malloc(blocks * sizeof(MPI_Datatype))};
    task_prepare(&room, world->comm);
    const bool all = room.send != NULL && room.receive != NULL && room.counts != NULL && room.bytes != NULL &&
                     room.types != NULL && room.gapped != MPI_DATATYPE_NULL;
    room.places = room.counts + blocks;
    room.at = room.bytes + blocks;
    const bool told = on_all(world, all && has_scratch(world)) && try_all(world, &room, again_too);
    free(room.send);
    free(room.receive);
    free(room.counts);
    free(room.bytes);
    free(room.types);
    task_end(&room);
    coll_scratch_trim(world);
    return told;
}

bool trial_start(struct coll_comm *world)
{
    if (world->topology.nodes != 1 || world->ranks < 2 || world->crowded)
        return true; /* where ranks wait for a CPU, a few calls tell nothing */
    trial_found = latest = (struct trial){0};
    if (world->rank == 0)
        trial_read(&trial_found, world->ranks);
    if (PMPI_Bcast(&trial_found, sizeof trial_found, MPI_BYTE, 0, world->comm) != MPI_SUCCESS)
        return false;
    if (trial_found.starts > 0) {
        /* Ranks may be bound otherwise this time: how long they take to meet is what was measured now. What the file has of several nodes,
           or of ranks that share CPUs, is nothing. */
        memcpy(trial_found.costs.meet, world->costs.meet, sizeof world->costs.meet);
        memcpy(trial_found.costs.shorter, world->costs.shorter, sizeof world->costs.shorter);
        trial_found.costs.meet_more = world->costs.meet_more;
        trial_found.costs.fabric_near = world->costs.fabric_near;
        trial_found.costs.sharing = world->costs.sharing;
        trial_found.costs.has_sharing = world->costs.has_sharing;
        trial_found.costs.has_shorter = world->costs.has_shorter;
        world->costs = trial_found.costs;
    }
    if (trial_found.streams == STREAMS_UNKNOWN)
        trial_found.streams = (int32_t)trial_streams(world);
    copy_stream_early(trial_found.streams == STREAMS_EARLY);
    if (trial_found.starts >= TRIAL_STARTS)
        return true;
    bool again_too = true;
    const bool told = try_now(world, &again_too), good = on_all(world, !failure_known(world->fabric.failure));
    if (good && (told || trial_found.starts == 0)) {
        trial_merge(&latest);
        trial_found.starts += trial_found.starts == 0 || again_too;
        trial_found.costs = world->costs;
    } else if (!good) {
        trial_found = (struct trial){0};
    }
    if (world->rank == 0 && told && good)
        trial_write(&trial_found, world->ranks);
    PMPI_Bcast(&trial_found, sizeof trial_found, MPI_BYTE, 0, world->comm);
    return good;
}
