#include "flight.h"

#include <stdio.h>
#include <string.h>

#include "later.h"

enum { DEEPEST = 3, CALLS = 3, NEIGHBORS = 5 /* names at the beginning of call_names, which need a topology */ };

static bool fly(struct trial *outer, MPI_Comm comm, struct random *shared)
{
    struct trial inner = {.shared = {random_next(shared)},
                          .own = {random_next(&outer->own)},
                          .comm = comm,
                          .by_library = true,
                          .tally = outer->tally,
                          .applies = outer->applies,
                          .turn = outer->turn,
                          .outer = outer,
                          .depth = outer->depth + 1};
    PMPI_Comm_rank(comm, &inner.rank);
    PMPI_Comm_size(comm, &inner.ranks);
    inner.which = NEIGHBORS + random_below(shared, NAMES - NEIGHBORS);
    inner.bytes = random_one_in(shared, 6) ? 384 << random_below(shared, 8) : 8 << random_below(shared, 6);
    inner.layouts = random_one_in(shared, 3) ? LAYOUTS_PLAIN : LAYOUTS_OF_UNITS;
    inner.large = random_one_in(shared, 4);
    if (random_one_in(shared, 2))
        later_draw(&inner);
    flight_draw(&inner);
    inner.tally->of[DRAWN_IN_FLIGHT]++;
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

static bool fly_all(struct trial *outer)
{
    struct random shared = random_of(outer->key, (uint64_t)outer->depth, 6);
    const int kind = random_below(&shared, 4);
    MPI_Comm made = MPI_COMM_NULL;
    bool good = true;
    if (kind == 0)
        MPI_Comm_dup(outer->comm, &made);
    else if (kind == 1)
        MPI_Comm_split(outer->comm, outer->rank % 2, -outer->rank, &made);
    outer->tally->of[DRAWN_MADE] += made != MPI_COMM_NULL;
    /* A communicator is served from its third call on. */
    const int calls = made != MPI_COMM_NULL ? 2 + CALLS : 1 + random_below(&shared, CALLS);
    for (int i = 0; i < calls; i++)
        good = fly(outer, made != MPI_COMM_NULL ? made : outer->comm, &shared) && good;
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    return good;
}

void flight_draw(struct trial *trial)
{
    const bool drawn = random_one_in(&trial->shared, 2);
    trial->key = random_next(&trial->shared);
    if (drawn && trial->later && trial->depth < DEEPEST)
        trial->between = fly_all;
}
