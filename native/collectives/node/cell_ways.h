/* How the pieces of a message go through cells, for each power of two of its bytes.
 *
 * What a writer stores into memory that others have read a moment ago must first be taken from the reader's core, and what a
 * reader reads comes from the writer's. On some processors a line goes from core to core several times as slowly as from
 * a cache that both share, or than from memory; on others it is the quickest way. No constant tells: a measurement at the
 * start does (dispatch/measure_ways.h), and the ranks of all nodes take the same. Until then all go CELLS_SOON. */
#ifndef UNISONO_NODE_CELL_WAYS_H
#define UNISONO_NODE_CELL_WAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "copy.h"

enum cell_way {
    CELLS_SOON, /* into memory that was used a few pieces before */
    CELLS_LATE, /* into memory that has left the cores' own caches meanwhile */
    CELLS_PAST, /* the same places as soon, by stores past the caches */
    CELL_WAYS
};

/* Powers of two, of ways and of trades: of what is shorter all goes CELLS_SOON, and nothing is traded; what is longer goes as the last. */
enum { CELL_WAYS_FROM = 12, CELL_TRADES_FROM = 7, CELL_WAYS_TO = 17 };

extern unsigned char cell_ways[CELL_WAYS_TO - CELL_WAYS_FROM + 1];

/* Whether two ranks that give each other so many bytes write where they have just read (trade.h): from a shorter power on,
 * measured likewise. Not, until then. */
enum cell_trade {
    TRADE_NOT,
    TRADE_READ, /* what comes is read, and the lines become the reader's when it writes there */
    TRADE_FETCH /* they become the reader's as it reads: they are fetched to be written */
};
extern unsigned char cell_trades[CELL_WAYS_TO - CELL_TRADES_FROM + 1];

/* Whether cells are to have room for CELLS_LATE: while it is measured, and afterwards where some pieces go that way. */
extern bool cell_ways_late;
void cell_ways_set_late(void); /* by what is in the table */

/* The place of a message in a table that begins with this power; -1: it is shorter. */
static inline int cell_power(int64_t bytes, int from)
{
    if (bytes < INT64_C(1) << from)
        return -1;
    int power = 63 - __builtin_clzll((unsigned long long)bytes);
    return (power < CELL_WAYS_TO ? power : CELL_WAYS_TO) - from;
}

static inline enum cell_way cell_way(int64_t bytes)
{
    const int power = cell_power(bytes, CELL_WAYS_FROM);
    return power < 0 ? CELLS_SOON : (enum cell_way)cell_ways[power];
}

static inline enum cell_trade cell_trade(int64_t bytes)
{
    const int power = cell_power(bytes, CELL_TRADES_FROM);
    return power < 0 ? TRADE_NOT : (enum cell_trade)cell_trades[power];
}

/* Of a message that may need several cells of so many bytes: its pieces come back to a cell so late that more places would
 * only throw out of the caches what is wanted again. */
static inline enum cell_way cell_way_of(int64_t bytes, int64_t cell)
{
    enum cell_way way = cell_way(bytes);
    return bytes > cell && way == CELLS_LATE ? CELLS_SOON : way;
}

static inline void cell_write(void *to, const void *from, int64_t bytes, enum cell_way way)
{
    copy_piece(to, from, bytes, way == CELLS_PAST);
}

#endif
