#include "measure_pull.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure_ways.h"
#include "node/attach.h"
#include "node/exchange.h"
#include "node/node.h"
#include "node/trade.h"

/* Batches are timed, and the quickest counts. */
enum { SIZES = 8, BATCH = 3, BATCHES = 5 };
static const int64_t shortest = 4 << 10;

/* Seconds: longer than any. */
static const double failed = 1e9;

static double slowest[2][SIZES]; /* seconds through cells, and by reading; 0: not measured */

/* Everybody gives a block to the next rank of its node. */
struct blocks {
    int64_t *bytes_out, *bytes_in, *at;
    char *send, *receive;
};

/* Of data that was just written, as a program's is: what has been read before would lie in the reader's cache. `failed` where it
   did, which keeps nobody from the calls that the others wait for. */
static double seconds_of(struct coll_comm *comm, const struct blocks *blocks, int64_t bytes, int64_t pull_from)
{
    const struct flow out = {.only = -1, .bytes = blocks->bytes_out, .at = blocks->at};
    const struct flow in = {.only = -1, .bytes = blocks->bytes_in, .at = blocks->at};
    double least = 1;
    int error = MPI_SUCCESS;
    for (int batch = 0; batch < BATCHES; batch++) {
        double seconds = 0;
        for (int i = 0; i < BATCH; i++) {
            memset(blocks->send, batch + i, (size_t)bytes);
            node_barrier(comm);
            const double start = PMPI_Wtime();
            const int now = node_trades_blocks(comm, &out, &in, pull_from)
                                ? node_trade_blocks(comm, blocks->send, &out, blocks->receive, &in)
                                : exchange(comm, blocks->send, &out, blocks->receive, &in, pull_from);
            seconds += (PMPI_Wtime() - start) / BATCH;
            error = error ? error : now;
        }
        least = seconds < least ? seconds : least;
    }
    return error ? failed : least;
}

static void measure_sizes(struct coll_comm *comm, const struct blocks *blocks, double mine[2][SIZES])
{
    const struct node *node = comm->node;
    for (int size = 0; size < SIZES; size++) {
        const int64_t bytes = shortest << size;
        blocks->bytes_out[(node->rank + 1) % node->ranks] = bytes;
        blocks->bytes_in[(node->rank + node->ranks - 1) % node->ranks] = bytes;
        mine[0][size] = seconds_of(comm, blocks, bytes, INT64_MAX);
        mine[1][size] = seconds_of(comm, blocks, bytes, shortest);
    }
}

static void measure(struct coll_comm *comm, double mine[2][SIZES])
{
    const size_t ranks = (size_t)comm->node->ranks, longest = (size_t)shortest << (SIZES - 1);
    int64_t *counts = calloc(3 * ranks, sizeof *counts);
    char *room = calloc(2, longest); /* not of the reserve, which is for what cannot be left undone */
    int good = counts != NULL && room != NULL, all = 0;
    /* All of them, or none: who did not take part would be waited for. */
    if (PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm->comm) == MPI_SUCCESS && all) {
        const struct blocks blocks = {.bytes_out = counts,
                                      .bytes_in = counts + ranks,
                                      .at = counts + 2 * ranks,
                                      .send = room,
                                      .receive = room + longest};
        measure_sizes(comm, &blocks, mine);
    }
    free(room);
    free(counts);
}

/* The shortest of those sizes from which on reading is quicker at every one. */
static int64_t first_read(void)
{
    int64_t from = INT64_MAX;
    for (int size = SIZES - 1; size >= 0 && slowest[1][size] < slowest[0][size]; size--)
        from = shortest << size;
    return from;
}

void measure_pull(void)
{
    double mine[2][SIZES] = {{0}};
    struct coll_comm *world = measure_world();
    if (world == NULL)
        return;
    const struct node *node = world->node;
    int here = node->ranks > 1 && node_pulls(node) && pairs_ready(world), everywhere = 0;
    bool told = PMPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, world->comm) == MPI_SUCCESS;
    if (told && everywhere) {
        const bool must_permit = pull_must_permit;
        measure(world, mine);
        told = PMPI_Allreduce(mine, slowest, 2 * SIZES, MPI_DOUBLE, MPI_MAX, world->comm) == MPI_SUCCESS;
        if (told && slowest[0][0] > 0)
            exchange_pull_measured = first_read();
        if (must_permit)
            pull_withdraw(); /* all ranks have come here: nobody reads any more */
    }
    pairs_free(world->node); /* most programs never exchange blocks: whoever does makes them anew */
}

void measure_pull_print(void)
{
    const double us = 1e-6;
    if (pull_slower() > 0)
        fprintf(stderr,
                "unisono: to read another rank's memory%s takes %.1f times as long as a copy, and %.2f us to begin\n",
                attach_works() ? ", which is attached (XPMEM)," : "", pull_slower(), pull_call() / us);
    if (exchange_pull_measured == 0)
        return;
    fprintf(stderr, "unisono: a block to another rank of the node, through cells and read where it is:");
    for (int size = 0; size < SIZES; size++)
        fprintf(stderr, " %d KiB %.2f and %.2f us,", (int)(shortest << size >> 10), slowest[0][size] / us,
                slowest[1][size] / us);
    if (exchange_pull_measured == INT64_MAX)
        fprintf(stderr, " never read\n");
    else
        fprintf(stderr, " read from %d KiB on\n", (int)(exchange_pull_measured >> 10));
}
