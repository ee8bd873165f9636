#include "measure_ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/cells.h"
#include "node/node.h"
#include "node/trade.h"
#include "peers.h"
#include "reserve.h"
#include "comm_state.h"

/* What lies between goes like the one below, or from SHORT on like the second. Batches are timed, and the quickest counts; where ranks
 * share CPUs the middle one of fewer, of pieces of LONGEST bytes or, where cells are shorter, LONG: what is shorter waits for CPUs. */
enum { SIZES = 4, BATCH = 8, BATCHES = 6, CROWDED_BATCHES = 3, LONG = 2, LONGEST = 3, SHORT = 2 << 10 };
static const int64_t sizes[SIZES] = {512, 4 << 10, 16 << 10, 64 << 10};

/* Behind the ways of cells those of trade.h. */
enum { TRADED = CELL_WAYS, FETCHED, MEASURED };

/* Another way must be so much quicker than CELLS_SOON, or noise would choose; and what goes LATE or PAST so much than what is OWNED
 * or traded, which use few lines: here nothing else is in the caches, but a program's data is. (Two ranks, Zen 4, a bcast of 128 KiB
 * that goes LATE: 6.2 us behind one another, 10.7 us among other algorithms; OWNED 4.3 us.) */
static const double worth = 0.85, worth_more_lines = 0.7;

static enum cell_trade trade_of(int way)
{
    return way < TRADED ? TRADE_NOT : way == TRADED ? TRADE_READ : TRADE_FETCH;
}

static void set_trades(int way)
{
    memset(cell_trades, trade_of(way), sizeof cell_trades);
}

/* Everybody writes a piece and reads its neighbour's. */
static void pass_piece(struct coll_comm *comm, char *room, int64_t bytes, int way)
{
    struct node *node = comm->node;
    if (way >= TRADED) {
        const struct trade trade = {.send = room, .out = bytes, .receive = room + bytes, .in = bytes};
        node_trade(comm, &trade);
        return;
    }
    const int neighbour = (node->rank + 1) % node->ranks;
    const uint64_t step = node_steps(node, 1);
    cell_room(comm, step);
    cell_write(cell_place(node, node->rank, step, bytes, (enum cell_way)way), room, bytes, (enum cell_way)way);
    line_post(node, step);
    line_wait(comm, neighbour, step);
    cell_read(room + bytes, cell_place(node, neighbour, step, bytes, (enum cell_way)way), bytes, (enum cell_way)way,
              false);
    node_pass(node, step + 1);
    line_prepare(node);
    memory_prepare(cell_place(node, node->rank, node->step, bytes, (enum cell_way)way), bytes);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of a piece, in memory that has been in use for a while: of CELLS_LATE that is all of every cell. */
static double seconds_of(struct coll_comm *comm, char *room, int64_t bytes, int way)
{
    const int64_t turns = way == CELLS_LATE ? comm->node->cell_stride / bytes : 1;
    const int batches = comm->crowded ? CROWDED_BATCHES : BATCHES;
    double found[BATCHES];
    set_trades(way);
    for (int64_t i = 0; i < turns * CELLS; i++)
        pass_piece(comm, room, bytes, way);
    for (int batch = 0; batch < batches; batch++) {
        node_barrier(comm);
        double start = PMPI_Wtime();
        for (int i = 0; i < BATCH; i++)
            pass_piece(comm, room, bytes, way);
        found[batch] = (PMPI_Wtime() - start) / BATCH;
    }
    qsort(found, (size_t)batches, sizeof *found, compare);
    return found[comm->crowded ? batches / 2 : 0];
}

static double slowest[SIZES][MEASURED]; /* seconds; 0: not measured */
static const char *const words[MEASURED] = {"soon", "late", "past", "owned", "traded", "fetched"};

/* Where a reader owns what it has read, this costs a store a line; where it should and does not, a piece may take three times as
 * long. So it does unless that was measured to be slower: a host may have moved the processors of a virtual machine to one core for this
 * moment, where nothing makes a difference. */
static bool owns(int size)
{
    const double as_fast = 1.05;
    return slowest[size][CELLS_OWNED] < as_fast * slowest[size][CELLS_SOON];
}

static enum cell_way best_way(int size, bool one_reader)
{
    const double *seconds = slowest[size];
    enum cell_way best = CELLS_SOON;
    if (one_reader && owns(size))
        best = CELLS_OWNED;
    double least = (best == CELLS_OWNED ? worth_more_lines : worth) * seconds[best];
    for (enum cell_way way = CELLS_LATE; way <= CELLS_PAST; way++)
        if (seconds[way] < least) {
            best = way;
            least = seconds[way];
        }
    return best;
}

static enum cell_trade best_trade(int size, enum cell_way way)
{
    const int traded = slowest[size][FETCHED] < worth * slowest[size][TRADED] ? FETCHED : TRADED;
    const bool trades = slowest[size][traded] > 0 && worth * slowest[size][traded] < slowest[size][way];
    return trades ? trade_of(traded) : TRADE_NOT;
}

/* What is SHORT goes to other places in no case, and what several ranks read is nobody's own. */
static void set_way(int power, bool one_reader, enum cell_way way)
{
    const bool is_short = INT64_C(1) << power < SHORT;
    if (way == CELLS_OWNED ? !one_reader : is_short)
        way = CELLS_SOON;
    cell_ways[one_reader][power - CELL_WAYS_FROM] = (unsigned char)way;
}

/* Of ranks that share CPUs. */
static bool is_of_long_alone(void)
{
    return slowest[1][CELLS_SOON] <= 0;
}

/* Which measured one speaks for so many bytes; one that was not measured: all of them go CELLS_SOON. */
static int size_for(int64_t bytes)
{
    int size = bytes < SHORT ? 0 : 1;
    if (is_of_long_alone())
        return slowest[LONG][CELLS_SOON] > 0 ? LONG : LONGEST;
    while (size > 0 && size + 1 < SIZES && sizes[size + 1] <= bytes && slowest[size + 1][CELLS_SOON] > 0)
        size++;
    return size;
}

static void choose(void)
{
    for (int power = CELL_WAYS_FROM; power <= CELL_WAYS_TO; power++) {
        const int64_t bytes = INT64_C(1) << power;
        const int size = size_for(bytes);
        /* Of shorter ones than were measured only whether their reader owns them, which is about lines, not about caches. */
        const bool is_shorter = is_of_long_alone() && bytes < sizes[LONG];
        for (int one = 0; one < 2; one++)
            set_way(power, one, !is_shorter ? best_way(size, one) : owns(size) ? CELLS_OWNED : CELLS_SOON);
        cell_owns[power - CELL_WAYS_FROM] = owns(size);
        cell_trades[power - CELL_WAYS_FROM] = (unsigned char)best_trade(size, cell_way(bytes, true));
    }
}

/* UNISONO_CELLS, which is the same on all ranks (agree.h): false where it says nothing that is understood. */
static bool is_given(void)
{
    const char *text = getenv("UNISONO_CELLS");
    int rank;
    if (text == NULL || text[0] == '\0')
        return false;
    for (int way = 0; way < MEASURED; way++)
        if (strcmp(text, words[way]) == 0) {
            for (int power = CELL_WAYS_FROM; power <= CELL_WAYS_TO; power++)
                for (int one = 0; one < 2; one++)
                    set_way(power, one, way < CELL_WAYS ? (enum cell_way)way : CELLS_SOON);
            set_trades(way);
            memset(cell_owns, way >= CELLS_OWNED, sizeof cell_owns);
            cell_ways_set_late();
            return true;
        }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr,
                "unisono: UNISONO_CELLS: %s is none of soon, late, past, owned, traded and fetched; it is measured\n",
                text);
    return false;
}

static struct coll_comm *equipped_world(void)
{
    struct comm_state *world = comm_state_now(MPI_COMM_WORLD);
    if (world == NULL)
        return NULL;
    if (!comm_state_equip(world)) {
        world->failed = false; /* nothing was asked for yet: the first call tries it, and is counted */
        return NULL;
    }
    return world->ours;
}

struct coll_comm *measure_world(void)
{
    struct coll_comm *world = equipped_world();
    return world == NULL || world->crowded ? NULL : world;
}

/* Where ranks share CPUs and a piece still goes to another core. Rank 0 says for all whether that takes too long to be found out. */
static void measure_crowded(struct coll_comm *comm, char *room, double mine[SIZES][MEASURED])
{
    const double long_wait = 1e-3;
    const bool has_cells = comm->node->shared && cells_ready(comm);
    const int size = has_cells && sizes[LONGEST] > comm->node->cell_bytes ? LONG : LONGEST;
    const bool fits = has_cells && sizes[size] <= comm->node->cell_bytes;
    for (int way = CELLS_SOON; way < CELL_WAYS; way++) {
        double seconds = fits ? seconds_of(comm, room, sizes[size], way) : 0;
        mine[size][way] = seconds;
        if (PMPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, comm->comm) != MPI_SUCCESS || seconds > long_wait || seconds <= 0)
            break;
    }
}

static void measure(struct coll_comm *comm)
{
    double mine[SIZES][MEASURED] = {{0}};
    char *room = reserve_get(2 * (size_t)sizes[SIZES - 1]);
    memset(room, 0, 2 * (size_t)sizes[SIZES - 1]);
    if (comm->crowded)
        measure_crowded(comm, room, mine);
    else if (comm->node->shared && cells_ready(comm))
        for (int size = 0; size < SIZES && sizes[size] <= comm->node->cell_bytes; size++)
            for (int way = 0; way < (comm->node->ranks == 2 ? MEASURED : CELL_WAYS); way++)
                mine[size][way] = seconds_of(comm, room, sizes[size], way);
    reserve_put(room);
    set_trades(CELLS_SOON); /* until something is chosen */
    bool told = PMPI_Allreduce(mine, slowest, SIZES * MEASURED, MPI_DOUBLE, MPI_MAX, comm->comm) == MPI_SUCCESS;
    for (int size = 0; size < SIZES; size++)
        if (slowest[size][CELL_WAYS - 1] <= 0)
            memset(slowest[size], 0, sizeof slowest[size]); /* not all ways were */
    if (told)
        choose();
}

void measure_ways(void)
{
    if (is_given())
        return;
    cell_ways_late = true;
    struct coll_comm *world = equipped_world();
    if (world != NULL)
        measure(world);
    cell_ways_set_late();
}

void measure_ways_print(void)
{
    const double us = 1e-6;
    for (int size = 0; size < SIZES; size++) {
        if (slowest[size][CELLS_SOON] <= 0)
            continue;
        fprintf(stderr, "unisono: cells of %d B:", (int)sizes[size]);
        for (int way = 0; way < MEASURED && slowest[size][way] > 0; way++)
            fprintf(stderr, " %s %.2f us,", words[way], slowest[size][way] / us);
        const enum cell_trade trade = cell_trade(sizes[size]);
        fprintf(stderr, " taken: %s, of one reader %s%s\n", words[cell_way(sizes[size], false)],
                words[cell_way(sizes[size], true)],
                trade == TRADE_NOT    ? ""
                : trade == TRADE_READ ? ", traded by two ranks"
                                      : ", fetched by two ranks");
    }
}
