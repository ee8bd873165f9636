/* Nonblocking collectives whose blocks have lengths of their own, several under way on several communicators of the same ranks: short
 * blocks and long ones, types with gaps, one rank ahead of the others, and waits in another order than the calls. What comes must be what
 * was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "blocks.h"

enum { COMMS = 3, KINDS = 5, UNDER_WAY = 6 };

static int wrong;

struct one {
    MPI_Request request;
    int kind, root, rank, ranks, step; /* ints from number to number */
    unsigned call;
    MPI_Comm comm;
    MPI_Datatype type;
    int counts[2][RANKS_MOST], at[2][RANKS_MOST];
    int *send, *receive;
};

static int wanted(const struct one *one, int from, int to)
{
    switch (one->kind) {
    case 0: return length(one->call, from, to);
    case 1: return length(one->call, from, 0); /* the same for all */
    case 2: return to == one->root ? length(one->call, from, 0) : 0;
    case 3: return from == one->root ? length(one->call, from, to) : 0;
    default: return length(one->call, 0, to) % LONG; /* of a sum, of which every rank gets a block */
    }
}

static int value(const struct one *one, int from, int to, int index)
{
    return number(one->call, from, one->kind == 1 || one->kind == 2 ? 0 : to, index);
}

static void begin(struct one *one)
{
    int total[2] = {0, 0};
    for (int i = 0; i < one->ranks; i++) {
        one->counts[0][i] = wanted(one, one->rank, i), one->counts[1][i] = wanted(one, i, one->rank);
        one->at[0][i] = total[0], one->at[1][i] = total[1];
        total[0] += one->counts[0][i], total[1] += one->counts[1][i];
    }
    one->send = malloc(((size_t)total[0] + 1) * (size_t)one->step * sizeof(int));
    one->receive = calloc(((size_t)total[1] + 1) * (size_t)one->step, sizeof(int));
    for (int i = 0; i < one->ranks; i++)
        for (int k = 0; k < one->counts[0][i]; k++)
            one->send[(one->at[0][i] + k) * one->step] = value(one, one->rank, i, k);
    const int *out = one->counts[0], *out_at = one->at[0], *in = one->counts[1], *in_at = one->at[1];
    const int to_root = out[one->root], from_root = in[one->root];
    switch (one->kind) {
    case 0:
        MPI_Ialltoallv(one->send, out, out_at, one->type, one->receive, in, in_at, one->type, one->comm, &one->request);
        break;
    case 1:
        MPI_Iallgatherv(one->send, out[0], one->type, one->receive, in, in_at, one->type, one->comm, &one->request);
        break;
    case 2:
        MPI_Igatherv(one->send, to_root, one->type, one->receive, in, in_at, one->type, one->root, one->comm,
                     &one->request);
        break;
    case 3:
        MPI_Iscatterv(one->send, out, out_at, one->type, one->receive, from_root, one->type, one->root, one->comm,
                      &one->request);
        break;
    default: MPI_Ireduce_scatter(one->send, one->receive, out, MPI_INT, MPI_SUM, one->comm, &one->request);
    }
}

static void finish(struct one *one)
{
    for (int i = 0; i < one->ranks; i++)
        for (int k = 0; k < one->counts[1][i] && one->kind < KINDS - 1; k++)
            wrong += one->receive[(one->at[1][i] + k) * one->step] != value(one, i, one->rank, k);
    for (int k = 0; k < one->counts[0][one->rank] && one->kind == KINDS - 1; k++) {
        unsigned sum = 0;
        for (int i = 0; i < one->ranks; i++)
            sum += (unsigned)value(one, i, one->rank, k);
        wrong += one->receive[k] != (int)sum;
    }
    free(one->send);
    free(one->receive);
}

int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Comm comms[COMMS];
    MPI_Datatype gapped;
    int rank, ranks, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
    comms[2] = MPI_COMM_WORLD;
    MPI_Type_create_resized(MPI_INT, 0, GAP * (MPI_Aint)sizeof(int), &gapped);
    MPI_Type_commit(&gapped);
    for (int from = 0; from < calls; from += UNDER_WAY) {
        struct one one[UNDER_WAY];
        MPI_Request requests[UNDER_WAY];
        for (int i = 0; i < UNDER_WAY; i++) {
            const unsigned call = (unsigned)(from + i), chance = mixed(call, 99);
            one[i] = (struct one){.call = call, .kind = (int)(chance % KINDS), .comm = comms[(chance >> 8) % COMMS]};
            MPI_Comm_rank(one[i].comm, &one[i].rank);
            MPI_Comm_size(one[i].comm, &one[i].ranks);
            one[i].root = (int)(chance >> 12) % ranks;
            const int gaps = (int)mixed(call, (unsigned)rank) & 1 && one[i].kind < KINDS - 1;
            one[i].type = gaps ? gapped : MPI_INT, one[i].step = gaps ? GAP : 1;
        }
        /* On different communicators calls need not begin in the same order. */
        for (int c = 0; c < COMMS; c++)
            for (int i = 0; i < UNDER_WAY; i++)
                if (one[i].comm == comms[(c + rank) % COMMS])
                    begin(&one[i]);
        for (int i = 0; i < UNDER_WAY; i++)
            requests[i] = one[i].request;
        if (from % 4 == 0) {
            for (int i = UNDER_WAY - 1, done = 0; i >= 0; i -= done != 0)
                MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
        } else if (from % 4 == 2) {
            MPI_Waitall(UNDER_WAY, requests, MPI_STATUSES_IGNORE);
        } else {
            for (int i = 0, which; i < UNDER_WAY; i++)
                MPI_Waitany(UNDER_WAY, requests, &which, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < UNDER_WAY; i++)
            finish(&one[i]);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", all == 0 ? "right" : "wrong");
    MPI_Type_free(&gapped);
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
    MPI_Finalize();
    return all != 0;
}
