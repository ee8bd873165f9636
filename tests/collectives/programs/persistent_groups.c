/* Persistent collectives of groups of ranks that share some ranks, not as many of each group, made and freed in turn so that what is free on
 * one rank is not so on another; all are started in an order of each rank's own. "right" at the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { GROUPS = 4, MOST = 40, ROUNDS = 60 };

static int rank, wrong;
static unsigned own_chance, shared_chance = 5;

static unsigned next_of(unsigned *chance)
{
    *chance = *chance * 1664525u + 1013904223u;
    return *chance >> 8;
}

/* A request of each of `count` places; the group's ranks and the sum of their ranks. */
static struct group {
    MPI_Comm comm;
    int is_in, ranks, sum, count;
    MPI_Request request[MOST];
    int from[MOST][2], to[MOST][2];
} groups[GROUPS];

static void make(struct group *group, int at)
{
    MPI_Allreduce_init(group->from[at], group->to[at], 2, MPI_INT, MPI_SUM, group->comm, MPI_INFO_NULL,
                       &group->request[at]);
}

/* Some more, or one of them anew before the old one is freed, or some less: all ranks alike. */
static void change(struct group *group)
{
    const int kind = (int)(next_of(&shared_chance) % 3), number = 1 + (int)(next_of(&shared_chance) % 12);
    for (int i = 0; i < number; i++)
        if (kind == 0 && group->count < MOST) {
            if (group->is_in)
                make(group, group->count);
            group->count++;
        } else if (kind == 1 && group->count > 0) {
            const int at = (int)(next_of(&shared_chance) % (unsigned)group->count);
            if (group->is_in) {
                MPI_Request old = group->request[at];
                make(group, at);
                MPI_Request_free(&old);
            }
        } else if (kind == 2 && group->count > 0) {
            group->count--;
            if (group->is_in)
                MPI_Request_free(&group->request[group->count]);
        }
}

/* Every request of this rank, in an order of its own. */
static void start_all(int round)
{
    static MPI_Request requests[GROUPS * MOST];
    int which[GROUPS * MOST], count = 0;
    for (int g = 0; g < GROUPS; g++)
        for (int i = 0; groups[g].is_in && i < groups[g].count; i++)
            which[count++] = g * MOST + i;
    for (int i = count - 1; i > 0; i--) {
        const int other = (int)(next_of(&own_chance) % (unsigned)(i + 1)), one = which[i];
        which[i] = which[other];
        which[other] = one;
    }
    for (int i = 0; i < count; i++) {
        struct group *group = &groups[which[i] / MOST];
        const int at = which[i] % MOST;
        group->from[at][0] = rank;
        group->from[at][1] = 1000 * round + which[i];
        requests[i] = group->request[at];
    }
    MPI_Startall(count, requests);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++) {
        const struct group *group = &groups[which[i] / MOST];
        const int *to = group->to[which[i] % MOST];
        if (to[0] != group->sum || to[1] != group->ranks * (1000 * round + which[i])) {
            fprintf(stderr, "rank %d: a sum of group %d is wrong in round %d\n", rank, which[i] / MOST, round);
            wrong = 1;
        }
    }
}

int main(int argc, char **argv)
{
    int any = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    own_chance = 99u + (unsigned)rank;
    const int colors[GROUPS] = {0, rank % 2, rank > 0 ? 0 : MPI_UNDEFINED, rank / 3};
    for (int g = 0; g < GROUPS; g++) {
        MPI_Comm_split(MPI_COMM_WORLD, colors[g], g % 2 ? -rank : rank, &groups[g].comm);
        groups[g].is_in = groups[g].comm != MPI_COMM_NULL;
        if (groups[g].is_in) {
            MPI_Comm_size(groups[g].comm, &groups[g].ranks);
            MPI_Allreduce(&rank, &groups[g].sum, 1, MPI_INT, MPI_SUM, groups[g].comm);
        }
    }
    for (int round = 0; round < ROUNDS && !wrong; round++) {
        for (int g = 0; g < GROUPS; g++)
            change(&groups[g]);
        start_all(round);
    }
    for (int g = 0; g < GROUPS; g++)
        for (int i = 0; groups[g].is_in && i < groups[g].count; i++)
            MPI_Request_free(&groups[g].request[i]);
    for (int g = 0; g < GROUPS; g++)
        if (groups[g].is_in)
            MPI_Comm_free(&groups[g].comm);
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", any ? "wrong" : "right");
    MPI_Finalize();
    return wrong;
}
