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

/* What lies between goes like the one below, or from SHORT on like the second. Batches are timed, and the quickest counts. */
enum { SIZES = 4, BATCH = 8, BATCHES = 6, SHORT = 2 << 10 };
static const int64_t sizes[SIZES] = {512, 4 << 10, 16 << 10, 64 << 10};

/* Behind the ways of cells those of trade.h. */
enum { TRADED = CELL_WAYS, FETCHED, MEASURED };

/* Another way must be so much quicker than CELLS_SOON, or noise would choose. */
static const double worth = 0.85;

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
    copy_piece(cell_place(node, node->rank, step, bytes, (enum cell_way)way), room, bytes, way == CELLS_PAST);
    line_post(node, step);
    line_wait(comm, neighbour, step);
    memcpy(room + bytes, cell_place(node, neighbour, step, bytes, (enum cell_way)way), (size_t)bytes);
    node_pass(node, step + 1);
    line_prepare(node);
    memory_prepare(cell_place(node, node->rank, node->step, bytes, (enum cell_way)way), bytes);
}

/* Seconds of a piece, in memory that has been in use for a while: of CELLS_LATE that is all of every cell. */
static double seconds_of(struct coll_comm *comm, char *room, int64_t bytes, int way)
{
    const int64_t turns = way == CELLS_LATE ? comm->node->cell_stride / bytes : 1;
    double least = 1;
    set_trades(way);
    for (int64_t i = 0; i < turns * CELLS; i++)
        pass_piece(comm, room, bytes, way);
    for (int batch = 0; batch < BATCHES; batch++) {
        node_barrier(comm);
        double start = PMPI_Wtime();
        for (int i = 0; i < BATCH; i++)
            pass_piece(comm, room, bytes, way);
        double seconds = (PMPI_Wtime() - start) / BATCH;
        least = seconds < least ? seconds : least;
    }
    return least;
}

static double slowest[SIZES][MEASURED]; /* seconds; 0: not measured */
static const char *const words[MEASURED] = {"soon", "late", "past", "traded", "fetched"};

static enum cell_way best_way(int size)
{
    enum cell_way best = CELLS_SOON;
    double least = worth * slowest[size][CELLS_SOON];
    for (enum cell_way way = CELLS_LATE; way < CELL_WAYS; way++)
        if (slowest[size][way] < least) {
            best = way;
            least = slowest[size][way];
        }
    return best;
}

static enum cell_trade best_trade(int size, enum cell_way way)
{
    const int traded = slowest[size][FETCHED] < worth * slowest[size][TRADED] ? FETCHED : TRADED;
    const bool trades = slowest[size][traded] > 0 && slowest[size][traded] < slowest[size][way];
    return trades ? trade_of(traded) : TRADE_NOT;
}

static void choose(void)
{
    for (int power = CELL_TRADES_FROM; power <= CELL_WAYS_TO; power++) {
        const int64_t bytes = INT64_C(1) << power;
        int size = bytes < SHORT ? 0 : 1;
        while (size > 0 && size + 1 < SIZES && sizes[size + 1] <= bytes && slowest[size + 1][CELLS_SOON] > 0)
            size++;
        const enum cell_way way = power < CELL_WAYS_FROM ? CELLS_SOON : best_way(size);
        if (power >= CELL_WAYS_FROM)
            cell_ways[power - CELL_WAYS_FROM] = (unsigned char)way;
        cell_trades[power - CELL_TRADES_FROM] = (unsigned char)best_trade(size, way);
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
            memset(cell_ways, way < CELL_WAYS ? way : CELLS_SOON, sizeof cell_ways);
            set_trades(way);
            cell_ways_set_late();
            return true;
        }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "unisono: UNISONO_CELLS: %s is none of soon, late, past, traded and fetched; it is measured\n",
                text);
    return false;
}

struct coll_comm *measure_world(void)
{
    struct comm_state *world = comm_state_now(MPI_COMM_WORLD);
    if (world == NULL)
        return NULL;
    if (!comm_state_equip(world)) {
        world->failed = false; /* nothing was asked for yet: the first call tries it, and is counted */
        return NULL;
    }
    return world->ours->crowded ? NULL : world->ours;
}

static void measure(struct coll_comm *comm)
{
    double mine[SIZES][MEASURED] = {{0}};
    char *room = reserve_get(2 * (size_t)sizes[SIZES - 1]);
    memset(room, 0, 2 * (size_t)sizes[SIZES - 1]);
    if (comm->node->shared && cells_ready(comm))
        for (int size = 0; size < SIZES && sizes[size] <= comm->node->cell_bytes; size++)
            for (int way = 0; way < (comm->node->ranks == 2 ? MEASURED : CELL_WAYS); way++)
                mine[size][way] = seconds_of(comm, room, sizes[size], way);
    reserve_put(room);
    set_trades(CELLS_SOON); /* until something is chosen */
    bool told = PMPI_Allreduce(mine, slowest, SIZES * MEASURED, MPI_DOUBLE, MPI_MAX, comm->comm) == MPI_SUCCESS;
    if (told && slowest[1][CELLS_SOON] > 0)
        choose();
}

void measure_ways(void)
{
    if (is_given())
        return;
    cell_ways_late = true;
    struct coll_comm *world = measure_world();
    if (world != NULL)
        measure(world);
    cell_ways_set_late();
}

void measure_ways_print(void)
{
    const double us = 1e-6;
    for (int size = 0; size < SIZES && slowest[size][CELLS_SOON] > 0; size++) {
        fprintf(stderr, "unisono: cells of %d B:", (int)sizes[size]);
        for (int way = 0; way < MEASURED && slowest[size][way] > 0; way++)
            fprintf(stderr, " %s %.2f us,", words[way], slowest[size][way] / us);
        const enum cell_trade trade = cell_trade(sizes[size]);
        fprintf(stderr, " taken: %s%s\n", words[cell_way(sizes[size])],
                trade == TRADE_NOT    ? ""
                : trade == TRADE_READ ? ", traded by two ranks"
                                      : ", fetched by two ranks");
    }
}
