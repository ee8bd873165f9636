#include "flight.h"

#include <stdio.h>
#include <string.h>

#include "later.h"

enum { DEEPEST = 3, CALLS = 2, NEIGHBORS = 5 /* names at the beginning of call_names, which need a topology */ };

static void draw(struct trial *inner, struct trial *outer, struct random *drawn)
{
    PMPI_Comm_rank(inner->comm, &inner->rank);
    PMPI_Comm_size(inner->comm, &inner->ranks);
    inner->which = NEIGHBORS + random_below(drawn, NAMES - NEIGHBORS);
    inner->bytes = random_one_in(drawn, 6) ? 384 << random_below(drawn, 8) : 8 << random_below(drawn, 6);
    inner->layouts = random_one_in(drawn, 3) ? LAYOUTS_PLAIN : LAYOUTS_OF_UNITS;
    inner->large = random_one_in(drawn, 4);
    later_draw(inner, true);
    inner->by_library = !(inner->use != NULL && inner->later && later_is_ours(inner, inner->use));
    flight_draw(inner);
    inner->tally->of[DRAWN_IN_FLIGHT]++;
    inner->tally->of[DRAWN_BESIDE] += !inner->by_library && !outer->by_library && !outer->is_over;
}

static bool fly(struct trial *outer, MPI_Comm comm, struct random *shared)
{
    struct random drawn = {random_next(shared)};
    struct trial inner = {.shared = {random_next(shared)},
                          .own = {random_next(&outer->own)},
                          .comm = comm,
                          .comms = outer->comms,
                          .tally = outer->tally,
                          .use = outer->use,
                          .applies = outer->applies,
                          .turn = outer->turn,
                          .outer = outer,
                          .depth = outer->depth + 1};
    if (comm == MPI_COMM_NULL)
        return true;
    draw(&inner, outer, &drawn);
    const bool good = trial_run(&inner);
    if (!good)
        fprintf(stderr, "WRONG while %s was under way: %s%s, rank %d of %d: %s\n", call_names[outer->which],
                call_names[inner.which],
                inner.persistent ? ", persistent"
                : inner.later    ? ", nonblocking"
                                 : "",
                inner.rank, inner.ranks, inner.words);
    return good;
}

/* A message that is there and back before anything that is under way need be over. */
static bool send_around(const struct trial *outer)
{
    enum { TAG = 6 };
    const int to = (outer->rank + 1) % outer->ranks, from = (outer->rank + outer->ranks - 1) % outer->ranks;
    int in = -1;
    MPI_Sendrecv(&outer->rank, 1, MPI_INT, to, TAG, &in, 1, MPI_INT, from, TAG, outer->comm, MPI_STATUS_IGNORE);
    return in == from;
}

/* A communicator for the calls, with some ranks of the outer one's or all: *made is one that is for them alone. */
static MPI_Comm draw_comm(const struct trial *outer, struct random *shared, MPI_Comm *made)
{
    enum { KINDS = 8 };
    const int kind = random_below(shared, KINDS);
    const int other = random_below(shared, random_one_in(shared, 4) && outer->ranks > 2 ? COMMS_BESIDE : COMMS_OF_ALL);
    int all;
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    *made = MPI_COMM_NULL;
    if (kind == 0)
        MPI_Comm_dup(outer->comm, made);
    else if (kind == 1 && outer->ranks > 2)
        MPI_Comm_split(outer->comm, outer->rank % 2, -outer->rank, made);
    else if (kind < KINDS / 2 && outer->ranks == all && outer->comms != NULL)
        return outer->comms[other];
    return *made != MPI_COMM_NULL ? *made : outer->comm;
}

static bool fly_all(struct trial *outer)
{
    struct random shared = random_of(outer->key, (uint64_t)outer->depth, 6);
    MPI_Comm made, comm = draw_comm(outer, &shared, &made);
    bool good = true;
    outer->tally->of[DRAWN_MADE] += made != MPI_COMM_NULL;
    /* Where nothing is forced, a communicator is served from its third call on. */
    const int least = made != MPI_COMM_NULL && outer->use == NULL ? 4 : 1, calls = least + random_below(&shared, CALLS);
    for (int i = 0; i < calls; i++) {
        const bool sends = random_one_in(&shared, 4);
        later_look(outer);
        good = (!sends || send_around(outer)) && good;
        good = fly(outer, comm, &shared) && good;
    }
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    return good;
}

void flight_draw(struct trial *trial)
{
    const bool drawn = random_below(&trial->shared, 4) < (trial->use != NULL ? 3 : 2);
    trial->key = random_next(&trial->shared);
    if (drawn && trial->later && trial->depth < DEEPEST)
        trial->between = fly_all;
}
