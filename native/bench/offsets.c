/* Clock offsets between nodes: the parent in a binomial tree tells the time to its child in a ping-pong; of many, the
   one with the shortest round trip bounds the error best, by half that round trip (Cristian, Distributed Computing 3,
   1989). */
#include "team.h"

enum { EXCHANGES = 40, TAG = 3 };

static void exchange(struct team *team, int partner, const int64_t *out, int64_t *in, bool first)
{
    MPI_Request request;
    for (int turn = 0; turn < 2; turn++) {
        if (first == (turn == 0))
            MPI_Isend(out, 1, MPI_INT64_T, partner, TAG, team->comm, &request);
        else
            MPI_Irecv(in, 1, MPI_INT64_T, partner, TAG, team->comm, &request);
        wait_request(&team->wait, &request);
    }
}

static void learn_from(struct team *team, int parent)
{
    int64_t shortest = INT64_MAX;
    for (int i = 0; i < EXCHANGES; i++) {
        int64_t told;
        int64_t before = clock_now();
        exchange(team, parent, &before, &told, true);
        int64_t after = clock_now();
        if (after - before < shortest) {
            shortest = after - before;
            team->offset = told - (before + after) / 2;
        }
    }
    team->clock_error = shortest / 2;
}

static void tell(struct team *team, int child)
{
    for (int i = 0; i < EXCHANGES; i++) {
        MPI_Request request;
        int64_t asked;
        MPI_Irecv(&asked, 1, MPI_INT64_T, child, TAG, team->comm, &request);
        wait_request(&team->wait, &request);
        int64_t time = team_now(team);
        MPI_Isend(&time, 1, MPI_INT64_T, child, TAG, team->comm, &request);
        wait_request(&team->wait, &request);
    }
}

void team_synchronise_clocks(struct team *team)
{
    if (team->common_clock)
        return;
    team_barrier(team);
    if (team->local == 0) {
        for (int step = 1; step < team->nodes; step <<= 1) {
            if (team->node < step && team->node + step < team->nodes)
                tell(team, team->leaders[team->node + step]);
            else if (team->node >= step && team->node < 2 * step)
                learn_from(team, team->leaders[team->node - step]);
        }
    }
    team->offset = team_node_sum(team, team->local == 0 ? team->offset : 0);
    int64_t error = team->local == 0 ? team->clock_error : 0;
    team_maximum_all(team, &error, 1);
    int depth = 0; /* of the tree: errors add up along it */
    while (1 << depth < team->nodes)
        depth++;
    team->clock_error = error * depth;
}
