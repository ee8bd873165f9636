#include "team.h"

#include <stdlib.h>
#include <string.h>

struct team_node {
    _Alignas(LINE) _Atomic uint64_t released;
    int64_t value; /* on the same line as `released`: one transfer brings both */
    _Alignas(LINE) char share[TEAM_SHARE];
};

/* A whole number of pages, so that each rank's lie near it. */
struct team_rank {
    _Alignas(SEGMENT_PAGE) _Atomic uint64_t arrived;
    _Alignas(LINE) int64_t values[TEAM_VALUES];
};

static void find_nodes(struct team *team)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &team->comm);
    MPI_Comm_rank(team->comm, &team->rank);
    MPI_Comm_size(team->comm, &team->ranks);
    MPI_Comm_split_type(team->comm, MPI_COMM_TYPE_SHARED, team->rank, MPI_INFO_NULL, &team->node_comm);
    MPI_Comm_rank(team->node_comm, &team->local);
    MPI_Comm_size(team->node_comm, &team->locals);
}

/* Numbers the nodes by the world rank of their leader. */
static bool find_leaders(struct team *team, struct problem *problem)
{
    int leader = team->rank;
    MPI_Bcast(&leader, 1, MPI_INT, 0, team->node_comm);
    int *all = malloc((size_t)team->ranks * sizeof *all);
    team->leaders = malloc((size_t)team->ranks * sizeof *team->leaders);
    if (all == NULL || team->leaders == NULL) {
        free(all);
        return problem_set(problem, "out of memory");
    }
    MPI_Allgather(&leader, 1, MPI_INT, all, 1, MPI_INT, team->comm);
    for (int rank = 0; rank < team->ranks; rank++) {
        if (all[rank] != rank)
            continue;
        if (rank == leader)
            team->node = team->nodes;
        team->leaders[team->nodes++] = rank;
    }
    free(all);
    return true;
}

static void find_clocks(struct team *team)
{
    uint64_t mine = clock_identity();
    uint64_t low, high;
    MPI_Allreduce(&mine, &low, 1, MPI_UINT64_T, MPI_MIN, team->comm);
    MPI_Allreduce(&mine, &high, 1, MPI_UINT64_T, MPI_MAX, team->comm);
    team->common_clock = low == high;
}

bool team_create(struct team *team, struct problem *problem)
{
    *team = (struct team){0};
    find_nodes(team);
    if (!find_leaders(team, problem))
        return false;
    find_clocks(team);
    size_t head = page_round(sizeof(struct team_node));
    bool good = segment_create(&team->segment, team->node_comm, head, page_round(sizeof(struct team_rank)), problem);
    int mine = good;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, team->comm);
    if (!all)
        return problem_set(problem, "another node could not make its shared memory");
    team->shared = team->segment.base;
    team->slots = (struct team_rank *)((char *)team->segment.base + head);
    team->wait.comm = team->comm;
    return true;
}

void team_free(struct team *team)
{
    segment_free(&team->segment);
    free(team->leaders);
    MPI_Comm_free(&team->node_comm);
    MPI_Comm_free(&team->comm);
}

/* The binomial tree over nodes: the parent of n is n without its lowest set bit; its children are n + 1, 2, 4 ... below
 * it. */
static int parent_of(int node)
{
    return node & (node - 1);
}

static int widest_step(const struct team *team)
{
    int step = 1;
    while (step < team->nodes && (team->node == 0 || step < (team->node & -team->node)))
        step <<= 1;
    return step >> 1;
}

static void receive(struct team *team, int node, void *data, size_t bytes)
{
    MPI_Request request;
    MPI_Irecv(data, (int)bytes, MPI_BYTE, team->leaders[node], 1, team->comm, &request);
    wait_request(&team->wait, &request);
}

static void send(struct team *team, int node, const void *data, size_t bytes)
{
    MPI_Request request;
    MPI_Isend(data, (int)bytes, MPI_BYTE, team->leaders[node], 1, team->comm, &request);
    wait_request(&team->wait, &request);
}

enum combine { MAXIMUM, SUM };

static void combine_with(enum combine how, int64_t *values, const int64_t *others, int count)
{
    for (int i = 0; i < count; i++)
        if (how == SUM)
            values[i] += others[i];
        else if (others[i] > values[i])
            values[i] = others[i];
}

/* Everybody arrives, bringing `count` values; rank 0 gets their maximum or sum. */
static void gather_values(struct team *team, enum combine how, int64_t *values, int count)
{
    team->sequence++;
    if (team->local != 0) {
        for (int i = 0; i < count; i++)
            team->slots[team->local].values[i] = values[i];
        atomic_store_explicit(&team->slots[team->local].arrived, team->sequence, memory_order_release);
        return;
    }
    for (int local = 1; local < team->locals; local++) {
        wait_flag(&team->wait, &team->slots[local].arrived, team->sequence);
        combine_with(how, values, team->slots[local].values, count);
    }
    if (team->nodes == 1)
        return;
    int64_t others[TEAM_VALUES];
    for (int step = 1; step <= widest_step(team); step <<= 1) {
        if (team->node + step >= team->nodes)
            break;
        receive(team, team->node + step, others, (size_t)count * sizeof *others);
        combine_with(how, values, others, count);
    }
    if (team->node != 0)
        send(team, parent_of(team->node), values, (size_t)count * sizeof *values);
}

/* Leaders pass bytes down the tree. */
static void pass_down(struct team *team, void *data, size_t bytes)
{
    if (team->node != 0)
        receive(team, parent_of(team->node), data, bytes);
    for (int step = widest_step(team); step > 0; step >>= 1)
        if (team->node + step < team->nodes)
            send(team, team->node + step, data, bytes);
}

void team_gather(struct team *team)
{
    gather_values(team, MAXIMUM, NULL, 0);
}

int64_t team_release(struct team *team, int64_t value)
{
    if (team->local != 0) {
        wait_flag(&team->wait, &team->shared->released, team->sequence);
        return team->shared->value;
    }
    if (team->nodes > 1)
        pass_down(team, &value, sizeof value);
    team->shared->value = value;
    atomic_store_explicit(&team->shared->released, team->sequence, memory_order_release);
    return value;
}

void team_barrier(struct team *team)
{
    team_gather(team);
    team_release(team, 0);
}

void team_share(struct team *team, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += TEAM_SHARE) {
        size_t part = bytes - done < TEAM_SHARE ? bytes - done : TEAM_SHARE;
        char *piece = (char *)data + done;
        team_gather(team);
        if (team->local == 0) {
            if (team->nodes > 1)
                pass_down(team, piece, part);
            memcpy(team->shared->share, piece, part);
        }
        team_release(team, 0);
        if (team->local != 0)
            memcpy(piece, team->shared->share, part);
    }
}

void team_maximum(struct team *team, int64_t *values, int count)
{
    gather_values(team, MAXIMUM, values, count);
    team_release(team, 0);
}

void team_sum(struct team *team, int64_t *values, int count)
{
    gather_values(team, SUM, values, count);
    team_release(team, 0);
}

void team_maximum_all(struct team *team, int64_t *values, int count)
{
    team_maximum(team, values, count);
    team_share(team, values, (size_t)count * sizeof *values);
}

bool team_agree(struct team *team, struct problem *problem)
{
    int64_t first = problem_any(problem) ? team->ranks - team->rank : 0;
    team_maximum_all(team, &first, 1);
    if (first == 0)
        return true;
    int failed = team->ranks - (int)first;
    MPI_Request request;
    if (failed != 0 && team->rank == failed) {
        MPI_Isend(problem->text, sizeof problem->text, MPI_CHAR, 0, 2, team->comm, &request);
        wait_request(&team->wait, &request);
    } else if (failed != 0 && team->rank == 0) {
        MPI_Irecv(problem->text, sizeof problem->text, MPI_CHAR, failed, 2, team->comm, &request);
        wait_request(&team->wait, &request);
    }
    return false;
}

int64_t team_node_sum(struct team *team, int64_t value)
{
    team->slots[team->local].values[0] = value;
    team_barrier(team);
    int64_t sum = 0;
    for (int local = 0; local < team->locals; local++)
        sum += team->slots[local].values[0];
    team_barrier(team);
    return sum;
}
