/* As many ranks on a node as large machines have, with threads for ranks that take turns on few CPUs: lines, cells and slices
 * give right results, and what a node's cells take together stays within bounds. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "collectives.h"
#include "node/allgather.h"
#include "node/allreduce.h"
#include "node/barrier.h"
#include "node/bcast.h"
#include "node/cells.h"
#include "node/reduce.h"
#include "node/reduce_scatter.h"
#include "node/rooted.h"
#include "node/scan.h"

enum { MOST_RANKS = 256, COUNT = 600, ROUNDS = 4, SHORT = 3, GATHERED = 64 };

static int ranks;
static int64_t cell_bytes;
static char *flags, *cells;
static _Atomic int wrong, finished;

/* Threads have no library to progress. The linker puts it in the place of fabric_progress(). */
void __wrap_fabric_progress(const struct fabric *fabric);
void __wrap_fabric_progress(const struct fabric *fabric)
{
    (void)fabric;
}

static void add(const struct reduction *reduction, const void *left, const void *right, void *result, int64_t count)
{
    (void)reduction;
    for (int64_t i = 0; i < count; i++)
        ((uint64_t *)result)[i] = ((const uint64_t *)left)[i] + ((const uint64_t *)right)[i];
}

static uint64_t value(int rank, int round, int64_t i)
{
    return (uint64_t)(rank + 1) * (uint64_t)(round + 3) + (uint64_t)i;
}

/* Of what the first `among` ranks have. */
static void expect_of(const uint64_t *got, int among, int round, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t sum = (uint64_t)(round + 3) * (uint64_t)among * (uint64_t)(among + 1) / 2;
        wrong += got[i] != sum + (uint64_t)(among * (first + i));
    }
}

static void expect(const uint64_t *got, int round, int64_t count)
{
    expect_of(got, ranks, round, 0, count);
}

static const struct reduction sum = {.element = 8, .commutative = true, .combine = add};

static void fill(uint64_t *send, uint64_t *receive, int rank, int round)
{
    for (int64_t i = 0; i < COUNT; i++)
        send[i] = receive[i] = value(rank, round, i);
}

static void reductions(struct coll_comm *comm, int round, uint64_t *send, uint64_t *receive)
{
    int rank = comm->node->rank, root = (ranks - 1) * round / ROUNDS;
    fill(send, receive, rank, round);
    node_bcast_cells(comm, root, receive, COUNT * 8, 0);
    for (int64_t i = 0; i < COUNT; i++)
        wrong += receive[i] != value(root, round, i);
    node_barrier_flags(comm);
    node_allreduce_inline(comm, send, receive, SHORT, &sum);
    expect(receive, round, SHORT);
    node_allreduce_cells(comm, send, receive, COUNT, &sum);
    expect(receive, round, COUNT);
    node_allreduce_slices(comm, send, receive, COUNT, &sum, 0);
    expect(receive, round, COUNT);
    node_reduce_cells(comm, root, send, rank == root ? receive : NULL, COUNT, &sum);
    if (rank == root)
        expect(receive, round, COUNT);
}

static void scans(struct coll_comm *comm, int round, uint64_t *send, uint64_t *receive)
{
    int rank = comm->node->rank;
    fill(send, receive, rank, round);
    node_scan_inline(comm, send, receive, SHORT, &sum, false);
    expect_of(receive, rank + 1, round, 0, SHORT);
    node_scan_cells(comm, send, receive, COUNT, &sum, false);
    expect_of(receive, rank + 1, round, 0, COUNT);
    node_scan_inline(comm, send, rank == 0 ? NULL : receive, SHORT, &sum, true);
    if (rank > 0)
        expect_of(receive, rank, round, 0, SHORT);
    node_scan_cells(comm, send, rank == 0 ? NULL : receive, COUNT, &sum, true);
    if (rank > 0)
        expect_of(receive, rank, round, 0, COUNT);
}

/* Blocks of a vector, of one number more on every second rank; in a line only few ranks have one. */
static void scattered_sums(struct coll_comm *comm, int round, uint64_t *send, uint64_t *receive)
{
    int64_t bytes[MOST_RANKS], at[MOST_RANKS], few[MOST_RANKS], next = 0;
    int rank = comm->node->rank;
    fill(send, receive, rank, round);
    for (int i = 0; i < ranks; i++) {
        bytes[i] = 8 * (1 + i % 2), at[i] = next;
        few[i] = i % (ranks / 8) == 0 ? 8 : 0;
        next += bytes[i];
    }
    node_reduce_scatter_cells(comm, send, receive, bytes, at, &sum);
    expect_of(receive, ranks, round, at[rank] / 8, bytes[rank] / 8);
    node_reduce_scatter_inline(comm, send, receive, few, at, &sum);
    expect_of(receive, ranks, round, at[rank] / 8, few[rank] / 8);
}

static void gathers(struct coll_comm *comm, int round, uint64_t *send, uint64_t *all)
{
    int rank = comm->node->rank, root = (ranks - 1) * round / ROUNDS;
    for (int64_t i = 0; i < COUNT; i++)
        send[i] = value(rank, round, i);
    node_gather_inline(comm, root, send, rank == root ? all : NULL, SHORT * 8);
    for (int64_t i = 0; i < ranks * SHORT && rank == root; i++)
        wrong += all[i] != value((int)(i / SHORT), round, i % SHORT);
    node_allgather_inline(comm, send, all, SHORT * 8);
    for (int64_t i = 0; i < ranks * SHORT; i++)
        wrong += all[i] != value((int)(i / SHORT), round, i % SHORT);
    node_allgather_cells(comm, send, all, GATHERED * 8, NULL, NULL);
    for (int64_t i = 0; i < ranks * GATHERED; i++)
        wrong += all[i] != value((int)(i / GATHERED), round, i % GATHERED);
}

static void *run(void *argument)
{
    int rank = *(int *)argument;
    struct cells made = {.made = CELLS_MADE};
    struct node node = {.shared = true,
                        .crowded = true,
                        .rank = rank,
                        .ranks = ranks,
                        .cells = &made,
                        .cell_bytes = cell_bytes,
                        .cell_stride = cell_bytes,
                        .first = {.base = flags, .each = sizeof(struct shared_rank)},
                        .second = {.base = cells, .each = CELLS * cell_bytes}};
    struct coll_comm comm = {.node = &node, .ranks = ranks, .rank = rank};
    comm.topology = (struct topology){.local = rank, .locals = ranks, .nodes = 1, .most = ranks, .least = ranks};
    uint64_t *send = calloc(COUNT, 8), *receive = calloc((size_t)(COUNT + GATHERED * ranks), 8);
    for (int round = 0; round < ROUNDS; round++) {
        reductions(&comm, round, send, receive);
        scans(&comm, round, send, receive);
        scattered_sums(&comm, round, send, receive);
        gathers(&comm, round, send, receive);
    }
    free(send);
    free(receive);
    finished++;
    return NULL;
}

int main(void)
{
    static const int many[] = {64, 128, MOST_RANKS};
    for (int i = 2; i <= 1024; i++)
        CHECK(cell_bytes_for(i) >= 4 << 10 && cell_bytes_for(i) * CELLS * i <= INT64_C(32) << 20);
    for (size_t k = 0; k < sizeof many / sizeof *many; k++) {
        pthread_t threads[MOST_RANKS];
        pthread_attr_t small;
        int numbers[MOST_RANKS];
        ranks = many[k];
        cell_bytes = cell_bytes_for(ranks);
        size_t lines = (size_t)ranks * sizeof(struct shared_rank);
        flags = aligned_alloc(4096, (lines + 4095) / 4096 * 4096);
        cells = aligned_alloc(4096, (size_t)(ranks * CELLS * cell_bytes));
        memset(flags, 0, lines);
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 256 << 10);
        for (int i = 0; i < ranks; i++) {
            numbers[i] = i;
            CHECK(pthread_create(&threads[i], &small, run, &numbers[i]) == 0);
        }
        for (int i = 0; i < ranks; i++)
            pthread_join(threads[i], NULL);
        CHECK(finished == ranks && wrong == 0);
        finished = 0;
        free(flags);
        free(cells);
    }
    return verdict();
}
