#include "rounds.h"

#include <stdlib.h>
#include <string.h>

/* What the last calls were, and what was found for them. */
struct rounds_known {
    struct {
        rounds_find *find;
        int members;
        int64_t bytes;
        struct costs costs;
        struct radices radices;
    } of[4];
    int next;
};

const struct radices *rounds_of_call(struct coll_comm *comm, int members, int64_t bytes, rounds_find *find)
{
    struct rounds_known *known = comm->rounds;
    if (known == NULL)
        known = comm->rounds = calloc(1, sizeof *known);
    if (known == NULL)
        return NULL;
    const int entries = sizeof known->of / sizeof *known->of;
    for (int i = 0; i < entries; i++)
        if (known->of[i].find == find && known->of[i].members == members && known->of[i].bytes == bytes &&
            memcmp(&known->of[i].costs, &comm->costs, sizeof comm->costs) == 0)
            return &known->of[i].radices;
    int place = known->next;
    known->next = (place + 1) % entries;
    known->of[place].find = find;
    known->of[place].members = members;
    known->of[place].bytes = bytes;
    known->of[place].costs = comm->costs;
    known->of[place].radices = find(comm, members, (double)bytes);
    return &known->of[place].radices;
}

int round_receive(struct round *round, void *data, int64_t bytes, int member)
{
    round->requests[round->count] = MPI_REQUEST_NULL;
    return fabric_start_receive(&round->group->comm->fabric, data, bytes, group_rank(round->group, member),
                                round->group->tag, &round->requests[round->count++]);
}

int round_send(struct round *round, const void *data, int64_t bytes, int member)
{
    round->requests[round->count] = MPI_REQUEST_NULL;
    return fabric_start_send(&round->group->comm->fabric, data, bytes, group_rank(round->group, member),
                             round->group->tag, &round->requests[round->count++]);
}

int round_finish(struct round *round, int error)
{
    return fabric_finish(&round->group->comm->fabric, error, round->count, round->requests);
}

void round_combine(const struct circle *circle, char *others, char *own, int64_t bytes,
                   const struct reduction *reduction)
{
    char *left = circle->digit == 0 ? own : others;
    for (int i = 1; i < circle->factor && bytes > 0; i++) {
        char *right = i == circle->digit ? own : others + (i - (i > circle->digit)) * bytes;
        char *result = i < circle->digit ? left : own;
        reduction->combine(reduction, left, right, result, bytes / reduction->element);
        left = result;
    }
}
