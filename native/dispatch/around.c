#include "around.h"

#include <stdlib.h>
#include <string.h>

#include "aside.h"
#include "reserve.h"
#include "serve.h"

bool around_count(MPI_Comm comm, int *targets, int *sources)
{
    int kind = MPI_UNDEFINED, rank = 0, weighted;
    *targets = *sources = 0;
    if (PMPI_Topo_test(comm, &kind) != MPI_SUCCESS || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
        return false;
    if (kind == MPI_CART) {
        int dimensions = 0;
        bool good = PMPI_Cartdim_get(comm, &dimensions) == MPI_SUCCESS;
        *targets = *sources = 2 * dimensions;
        return good;
    }
    if (kind == MPI_GRAPH) {
        bool good = PMPI_Graph_neighbors_count(comm, rank, targets) == MPI_SUCCESS;
        *sources = *targets;
        return good;
    }
    return kind == MPI_DIST_GRAPH && PMPI_Dist_graph_neighbors_count(comm, sources, targets, &weighted) == MPI_SUCCESS;
}

/* In the order of the blocks (MPI 4.1, 8.6). `weights`: room for as many numbers as there are neighbours. */
static bool find(MPI_Comm comm, int targets, int *target, int sources, int *source, int *weights)
{
    int kind = MPI_UNDEFINED, rank = 0;
    bool good = PMPI_Topo_test(comm, &kind) == MPI_SUCCESS && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS;
    if (kind == MPI_CART) {
        for (int dimension = 0; dimension < targets / 2 && good; dimension++)
            good =
                PMPI_Cart_shift(comm, dimension, 1, &target[2 * dimension], &target[2 * dimension + 1]) == MPI_SUCCESS;
        memcpy(source, target, (size_t)targets * sizeof *source);
    } else if (kind == MPI_GRAPH) {
        good = good && PMPI_Graph_neighbors(comm, rank, targets, target) == MPI_SUCCESS;
        memcpy(source, target, (size_t)targets * sizeof *source);
    } else
        good = good && PMPI_Dist_graph_neighbors(comm, sources, source, weights, targets, target, weights + sources) ==
                           MPI_SUCCESS;
    return good;
}

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* MPI_PROC_NULL becomes -1. `room`: as many. */
static bool has_twice(int *list, int count, int *room)
{
    bool any = false;
    for (int i = 0; i < count; i++)
        room[i] = list[i] = list[i] == MPI_PROC_NULL ? -1 : list[i];
    qsort(room, (size_t)count, sizeof *room, compare);
    for (int i = 1; i < count; i++)
        any = any || (room[i] >= 0 && room[i] == room[i - 1]);
    return any;
}

/* A number of a message from one rank to another, as good as random (SplitMix64). */
static uint64_t mark(int from, int to)
{
    uint64_t z = ((uint64_t)(uint32_t)from << 32 | (uint32_t)to) + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Marks of what is sent less those of what is received: over all ranks 0 where everybody receives what others send it. */
static uint64_t unmatched(const struct neighbours *near, int rank)
{
    uint64_t sum = 0;
    for (int i = 0; i < near->targets; i++)
        sum += near->target[i] >= 0 ? mark(rank, near->target[i]) : 0;
    for (int i = 0; i < near->sources; i++)
        sum -= near->source[i] >= 0 ? mark(near->source[i], rank) : 0;
    return sum;
}

static struct around_side side_of(int count)
{
    struct around_side side = {.bytes = reserve_get(2 * (size_t)count * sizeof(int64_t)),
                               .counts = reserve_get((size_t)count * sizeof(MPI_Count)),
                               .places = reserve_get((size_t)count * sizeof(MPI_Aint))};
    side.at = side.bytes + count;
    return side;
}

/* What a rank finds by itself. */
static struct around *make(struct comm_state *state)
{
    if (state->around != NULL)
        return state->around;
    int targets, sources;
    bool good = around_count(state->user, &targets, &sources);
    targets = good ? targets : 0, sources = good ? sources : 0;
    struct around *around = state->around = reserve_get(sizeof *around);
    int *lists = reserve_get((size_t)(targets + sources) * sizeof *lists);
    int *room = reserve_get((size_t)(targets + sources) * sizeof *room);
    around->near =
        (struct neighbours){.targets = targets, .sources = sources, .target = lists, .source = lists + targets};
    good = good && find(state->user, targets, lists, sources, lists + targets, room);
    good = good && !has_twice(lists, targets, room);
    around->is_good = good && !has_twice(lists + targets, sources, room);
    reserve_put(room);
    around->out = side_of(targets);
    around->in = side_of(sources);
    return around;
}

static struct around_said said_of(const struct comm_state *state)
{
    const struct around *around = state->around;
    const int64_t targets = around->near.targets, sources = around->near.sources,
                  mine = targets > sources ? targets : sources;
    return (struct around_said){.most = around->is_good ? mine + 1 : INT64_MAX,
                                .unmatched = unmatched(&around->near, state->rank)};
}

static void settle(struct around *around, const struct around_said *all)
{
    around->possible = all->most != INT64_MAX && all->most > 0 && all->unmatched == 0;
    around->most = around->possible && all->most > 2 ? all->most - 1 : 1;
}

struct around *around_of(struct comm_state *state)
{
    struct around *around = make(state);
    if (around->is_agreed)
        return around;
    const struct around_said mine = said_of(state);
    struct around_said all = {.most = serve_most(state, mine.most)};
    all.unmatched = all.most != INT64_MAX && all.most > 0 ? !serve_sums_to_none(state, mine.unmatched) : 1;
    settle(around, &all);
    around->is_agreed = true;
    return around;
}

struct around *around_of_user(struct comm_state *state)
{
    struct around *around = make(state);
    struct around_said mine, all = {0};
    struct aside aside;
    if (!around_says(state, &mine))
        return around;
    aside_step(state->user, &aside);
    const bool good =
        PMPI_Allreduce(&mine.most, &all.most, 1, MPI_INT64_T, MPI_MAX, state->user) == MPI_SUCCESS &&
        PMPI_Allreduce(&mine.unmatched, &all.unmatched, 1, MPI_UINT64_T, MPI_SUM, state->user) == MPI_SUCCESS;
    aside_back(state->user, &aside);
    settle(around, &all);
    around->possible = around->possible && good;
    around->is_agreed = true;
    return around;
}

bool around_says(struct comm_state *state, struct around_said *said)
{
    if (make(state)->is_agreed)
        return false;
    *said = said_of(state);
    return true;
}

void around_hear(struct comm_state *state, const struct around_said *all)
{
    if (state->around->is_agreed) /* since then, and it was the same */
        return;
    settle(state->around, all);
    state->around->is_heard = true;
}

struct around *around_known(struct comm_state *state)
{
    struct around *around = make(state);
    return (around->is_agreed || around->is_heard) && around->possible ? around : NULL;
}

void around_free(struct around *around)
{
    if (around == NULL)
        return;
    reserve_put((void *)(uintptr_t)around->near.target);
    reserve_put(around->out.bytes);
    reserve_put(around->out.counts);
    reserve_put(around->out.places);
    reserve_put(around->out.layouts);
    reserve_put(around->in.bytes);
    reserve_put(around->in.counts);
    reserve_put(around->in.places);
    reserve_put(around->in.layouts);
    reserve_put(around);
}
