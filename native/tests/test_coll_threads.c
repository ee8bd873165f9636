/* The ways of one node with threads for ranks and plain memory for the segment: built with ThreadSanitizer, which knows
 * whether what is read was released by its writer. Results are checked too, with cells so small that the rings come
 * round often, on different numbers of ranks, with send and receive the same, in any mixture of phases, of one level,
 * of two and of three; on two communicators in turn that have cells, and the places of trade.h, in common. */
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
#include "node/domains.h"
#include "node/reduce.h"
#include "node/reduce_scatter.h"
#include "node/scan.h"
#include "node/slices.h"
#include "node/trade.h"

enum { MOST_RANKS = 4, MOST_COUNT = 3000, ROUNDS = 96, CELL_BYTES = 1024, TRADE_BYTES = 512 };
enum { SECOND_BYTES = CELLS * CELL_BYTES + TRADE_PLACES * TRADE_BYTES };

static int ranks;
/* Of the node, for another communicator of its ranks; at each level of domains, of each of them. */
enum { NODE, OTHER, DOMAINS, MOST_LEVELS = 3, PARTS = DOMAINS + MOST_LEVELS * MOST_RANKS };
static char *flags_memory[PARTS], *cells_memory[PARTS];
static _Atomic int wrong, finished;

/* Threads have no library to progress. The linker puts it in the place of fabric_progress(). */
void __wrap_fabric_progress(const struct fabric *fabric);
void __wrap_fabric_progress(const struct fabric *fabric)
{
    (void)fabric;
}

/* Of this thread, as a rank has it. */
void *__wrap_coll_scratch(struct coll_comm *comm, int which, int64_t bytes);
void *__wrap_coll_scratch(struct coll_comm *comm, int which, int64_t bytes)
{
    static _Thread_local char room[MOST_COUNT * 8];
    (void)comm, (void)which, (void)bytes;
    return room;
}

/* The map x -> high x + low, in 32 bits each. */
static uint64_t after(uint64_t left, uint64_t right)
{
    uint32_t high = (uint32_t)(left >> 32), low = (uint32_t)left;
    return (uint64_t)(high * (uint32_t)(right >> 32)) << 32 | (uint32_t)(high * (uint32_t)right + low);
}

/* One map after the other, which is associative but not commutative. */
static void compose(const struct reduction *reduction, const void *left, const void *right, void *result, int64_t count)
{
    (void)reduction;
    for (int64_t i = 0; i < count; i++)
        ((uint64_t *)result)[i] = after(((const uint64_t *)left)[i], ((const uint64_t *)right)[i]);
}

static uint64_t value(int rank, int round, int64_t i)
{
    return (uint64_t)(rank * 31 + round * 7 + 3) << 32 | (uint64_t)(rank + round + i);
}

/* Of the first `among` ranks. */
static uint64_t combined_of(int among, int round, int64_t i)
{
    uint64_t result = value(0, round, i);
    for (int rank = 1; rank < among; rank++)
        result = after(result, value(rank, round, i));
    return result;
}

static void expect_of(int among, const uint64_t *got, int round, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count && among > 0; i++)
        if (got[i] != combined_of(among, round, first + i))
            wrong++;
}

static void expect(const uint64_t *got, int round, int64_t first, int64_t count)
{
    expect_of(ranks, got, round, first, count);
}

static void phase(struct coll_comm *comm, int round, uint64_t *send, uint64_t *receive, int64_t count)
{
    struct reduction reduction = {.element = 8, .combine = compose};
    int rank = comm->node->rank, root = round % ranks;
    const void *from = round % 3 ? (void *)send : (void *)receive;
    int64_t at[MOST_RANKS + 1];
    for (int i = 0; i <= ranks; i++)
        at[i] = i == ranks ? count : count * i * i / ranks / ranks;
    for (int64_t i = 0; i < count; i++)
        send[i] = receive[i] = value(rank, round, i);
    switch (round * 5 % 12) {
    case 8: domains_barrier(comm); break;
    case 9:
        domains_bcast(comm, root, receive, count * 8, round % 2 ? 512 : 1024);
        for (int64_t i = 0; i < count; i++)
            wrong += receive[i] != value(root, round, i);
        break;
    case 10:
        domains_reduce(comm, root, from, rank == root ? receive : NULL, count, &reduction, 512);
        if (rank == root)
            expect(receive, round, 0, count);
        break;
    case 11:
        domains_allreduce(comm, from, receive, count, &reduction, round % 2 ? 1000 : 256);
        expect(receive, round, 0, count);
        break;
    case 0:
    case 1:
        if (round * 5 % 12 == 0 && count * 8 <= LINE_ROOM)
            node_bcast_inline(comm, root, receive, count * 8);
        else
            node_bcast_cells(comm, root, receive, count * 8, round % 2 ? 0 : 256);
        for (int64_t i = 0; i < count; i++)
            wrong += receive[i] != value(root, round, i);
        break;
    case 2:
        if (count * 8 <= LINE_ROOM)
            node_allreduce_inline(comm, from, receive, count, &reduction);
        else if (count * 8 <= CELL_BYTES)
            node_allreduce_groups(comm, from, receive, count, &reduction);
        else
            node_allreduce_cells(comm, from, receive, count, &reduction);
        expect(receive, round, 0, count);
        break;
    case 3: node_barrier_flags(comm); break;
    case 4:
    case 5:
        if (round * 5 % 12 == 4)
            node_reduce_cells(comm, root, from, rank == root ? receive : NULL, count, &reduction);
        else
            node_reduce_slices(comm, root, from, rank == root ? receive : NULL, count, &reduction, 0);
        if (rank == root)
            expect(receive, round, 0, count);
        break;
    case 6:
        node_allreduce_slices(comm, from, receive, count, &reduction, round % 2 ? 0 : 512);
        expect(receive, round, 0, count);
        break;
    default: {
        struct slices slices = {
            .which = SLICES_OWN, .send = from, .receive = receive, .at = at, .reduction = &reduction};
        node_slices(comm, &slices);
        expect(receive, round, at[rank], at[rank + 1] - at[rank]);
    }
    }
}

/* Of two ranks: blocks of different lengths, each its own too. */
static void trade_blocks(struct coll_comm *comm, int round, const uint64_t *send, uint64_t *receive, int64_t count)
{
    const int rank = comm->node->rank, other = 1 - rank;
    const int64_t given[2] = {round % 2 ? count : count / 3, round % 4 < 2 ? 0 : count};
    int64_t out_bytes[2], in_bytes[2], out_at[2] = {0, 0}, in_at[2];
    for (int local = 0; local < 2; local++) {
        out_bytes[local] = given[rank] * 8;
        in_bytes[local] = given[local] * 8;
        in_at[local] = local == 0 ? 0 : given[0] * 8;
    }
    const struct flow out = {-1, 0, out_bytes, out_at}, in = {-1, 0, in_bytes, in_at};
    if (!node_trades_blocks(comm, &out, &in, INT64_MAX))
        return;
    node_trade_blocks(comm, send, &out, receive, &in);
    for (int64_t i = 0; i < given[rank]; i++)
        wrong += receive[in_at[rank] / 8 + i] != value(rank, round, i);
    for (int64_t i = 0; i < given[other]; i++)
        wrong += receive[in_at[other] / 8 + i] != value(other, round, i);
}

/* Scans, sums that are scattered, and gathers: of the node alone. */
static void one_level(struct coll_comm *comm, int round, uint64_t *send, uint64_t *receive, int64_t count)
{
    static _Thread_local uint64_t all[MOST_RANKS * MOST_COUNT];
    struct reduction reduction = {.element = 8, .combine = compose};
    const int rank = comm->node->rank, exclusive = round % 2;
    const void *from = round % 3 ? (void *)send : (void *)receive;
    int64_t bytes[MOST_RANKS], at[MOST_RANKS];
    for (int64_t i = 0; i < count; i++)
        send[i] = receive[i] = value(rank, round, i);
    uint64_t *result = exclusive && rank == 0 ? NULL : receive;
    if (count * 8 <= LINE_ROOM && round % 4 < 2)
        node_scan_inline(comm, from, result, count, &reduction, exclusive);
    else
        node_scan_cells(comm, from, result, count, &reduction, exclusive);
    expect_of(exclusive ? rank : rank + 1, receive, round, 0, count);
    for (int i = 0; i < ranks; i++) {
        at[i] = count * i * i / ranks / ranks * 8;
        bytes[i] = (i + 1 == ranks ? count : count * (i + 1) * (i + 1) / ranks / ranks) * 8 - at[i];
    }
    if (count * 8 <= LINE_ROOM)
        node_reduce_scatter_inline(comm, send, receive, bytes, at, &reduction);
    else
        node_reduce_scatter_cells(comm, send, receive, bytes, at, &reduction);
    expect(receive, round, at[rank] / 8, bytes[rank] / 8);
    node_allgather_cells(comm, send, all, count * 8, NULL, NULL);
    for (int64_t i = 0; i < ranks * count; i++)
        wrong += all[i] != value((int)(i / count), round, i % count);
    if (ranks == 2)
        trade_blocks(comm, round, send, all, count);
}

static struct node node_of(int part, int rank, int count, struct cells *cells)
{
    return (struct node){.shared = count > 1,
                         .crowded = true,
                         .rank = rank,
                         .ranks = count,
                         .cells = cells,
                         .cell_bytes = CELL_BYTES,
                         .cell_stride = CELL_BYTES,
                         .first = {.base = flags_memory[part], .each = sizeof(struct shared_rank)},
                         .second = {.base = cells_memory[part == OTHER ? NODE : part], .each = SECOND_BYTES}};
}

/* Two or three ranks: the first is a domain, the others are one. Four: one, two and one; the last two of these are one again,
 * and the node is the third level. */
static struct domains domains_of(int rank, struct node *inner, int (*numbers)[MOST_RANKS])
{
    static const int home_of_four[MOST_LEVELS][MOST_RANKS] = {{0, 1, 1, 2}, {0, 1, 1, 1}, {0, 0, 0, 0}};
    static const int place_of_four[MOST_LEVELS][MOST_RANKS] = {{0, 0, 1, 0}, {0, 0, 0, 1}, {0, 1, 1, 1}};
    static const int home_of_few[2][MOST_RANKS] = {{0, 1, 1}, {0, 0, 0}},
                     place_of_few[2][MOST_RANKS] = {{0, 0, 1}, {0, 1, 1}};
    struct domains domains = {.count = ranks == 4 ? 3 : 2, .cell = CELL_BYTES};
    bool leads = true;
    for (int k = 0; k < domains.count; k++) {
        struct level *level = &domains.level[k];
        level->home = numbers[2 * k];
        level->place_of = numbers[2 * k + 1];
        memcpy(level->home, ranks == 4 ? home_of_four[k] : home_of_few[k], sizeof *numbers);
        memcpy(level->place_of, ranks == 4 ? place_of_four[k] : place_of_few[k], sizeof *numbers);
        int members = 0;
        for (int i = 0; i < ranks; i++)
            if (level->home[i] == level->home[rank] && level->place_of[i] >= members)
                members = level->place_of[i] + 1;
        level->cells = (struct cells){.made = CELLS_MADE, .trade_bytes = TRADE_BYTES};
        inner[k] = node_of(DOMAINS + k * MOST_RANKS + level->home[rank], level->place_of[rank], members, NULL);
        if (leads)
            level->comm.node = &inner[k];
        leads = leads && level->place_of[rank] == 0;
    }
    return domains;
}

static void *run(void *argument)
{
    static const int64_t counts[] = {1, 15, 16, 128, 129, 1000, MOST_COUNT, 0};
    int rank = *(int *)argument;
    struct cells cells = {.made = CELLS_MADE, .trade_bytes = TRADE_BYTES};
    struct node node = node_of(NODE, rank, ranks, &cells), other = node_of(OTHER, rank, ranks, &cells);
    struct node inner[MOST_LEVELS];
    int numbers[2 * MOST_LEVELS][MOST_RANKS];
    struct domains domains = domains_of(rank, inner, numbers);
    for (int k = 0; k < domains.count; k++)
        inner[k].cells = &domains.level[k].cells; /* where it stays */
    struct coll_comm comm = {.node = &node, .domains = &domains, .ranks = ranks, .rank = rank};
    comm.topology = (struct topology){.local = rank, .locals = ranks};
    uint64_t *send = calloc(MOST_COUNT, 8), *receive = calloc(MOST_COUNT, 8);
    for (int round = 0; round < ROUNDS; round++) {
        comm.node = round % 7 < 3 || round % 12 == 5 ? &other : &node;
        phase(&comm, round, send, receive, counts[round / 3 % 8]);
        one_level(&comm, round, send, receive, counts[round / 3 % 8]);
    }
    free(send);
    free(receive);
    finished++;
    /* Threads that end call into what libraries of MPI have put in place of madvise(), which ThreadSanitizer does not
       survive. */
    while (pause())
        continue;
    return NULL;
}

/* Two ranks trade in one way, in the other, and not at all, and own what they have read. */
int main(void)
{
    for (int turn = 2 - TRADE_FETCH; turn <= MOST_RANKS; turn++) {
        ranks = turn < 2 ? 2 : turn;
        memset(cell_owns, true, sizeof cell_owns);
        memset(cell_ways[true], CELLS_OWNED, sizeof cell_ways[true]);
        memset(cell_trades, turn < 2 ? 2 - turn : TRADE_NOT, sizeof cell_trades);
        pthread_t threads[MOST_RANKS];
        int numbers[MOST_RANKS];
        size_t flags = ((size_t)ranks * sizeof(struct shared_rank) + 4095) / 4096 * 4096;
        for (int part = 0; part < PARTS; part++) {
            flags_memory[part] = aligned_alloc(4096, flags);
            cells_memory[part] = aligned_alloc(4096, ((size_t)ranks * SECOND_BYTES + 4095) / 4096 * 4096);
            memset(flags_memory[part], 0, flags);
        }
        for (int i = 0; i < ranks; i++) {
            numbers[i] = i;
            pthread_create(&threads[i], NULL, run, &numbers[i]);
        }
        for (int i = 0; i < ranks; i++)
            pthread_detach(threads[i]);
        while (finished < ranks)
            usleep(1000);
        finished = 0;
        CHECK(wrong == 0);
        for (int part = 0; part < PARTS; part++) {
            free(flags_memory[part]);
            free(cells_memory[part]);
        }
    }
    return verdict();
}
