/* How the pieces of a message go through cells, for each power of two of its bytes.
 *
 * What a writer stores into memory that others have read a moment ago must first be taken from the reader's core, and what a
 * reader reads comes from the writer's. On some processors a line goes from core to core several times as slowly as from
 * a cache that both share, or than from memory; on others it is the quickest way. No constant tells: a measurement at the
 * start does (dispatch/measure_ways.h), and the ranks of all nodes take the same. Until then all go CELLS_SOON.
 *
 * To take a line away from a core that has only read it may take several times as long as to fetch one which that core has
 * written: processors that see a line read and then written by one core after the other hand it over with the right to
 * write (migratory sharing: Cox and Fowler; Stenstrom et al.; both ISCA 1993). So where a piece has one reader, this one can
 * make the writer's next piece there quicker: by writing into each line what it has just read there. */
#ifndef UNISONO_NODE_CELL_WAYS_H
#define UNISONO_NODE_CELL_WAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "copy.h"

enum cell_way {
    CELLS_SOON,  /* into memory that was used a few pieces before */
    CELLS_LATE,  /* into memory that has left the cores' own caches meanwhile */
    CELLS_PAST,  /* the same places as soon, by stores past the caches */
    CELLS_OWNED, /* the same places as soon, and its only reader writes into each line of a piece */
    CELL_WAYS
};

/* Powers of two, of ways and of trades: of what is shorter all goes CELLS_SOON, and nothing is traded; what is longer goes as the last. */
enum { CELL_WAYS_FROM = 7, CELL_WAYS_TO = 17 };

/* For pieces that several ranks read, and for those that one does. */
extern unsigned char cell_ways[2][CELL_WAYS_TO - CELL_WAYS_FROM + 1];

/* Whether two ranks that give each other so many bytes write where they have just read (trade.h): from a shorter power on,
 * measured likewise. Not, until then. */
enum cell_trade {
    TRADE_NOT,
    TRADE_READ, /* what comes is read, and the lines become the reader's when it writes there */
    TRADE_FETCH /* they become the reader's as it reads: they are fetched to be written */
};
extern unsigned char cell_trades[CELL_WAYS_TO - CELL_WAYS_FROM + 1];

/* Whether what this rank does not write next, where it has read, is better written into all the same. Not, until then. */
extern bool cell_owns[CELL_WAYS_TO - CELL_WAYS_FROM + 1];

/* Whether cells are to have room for CELLS_LATE: while it is measured, and afterwards where some pieces go that way. */
extern bool cell_ways_late;
void cell_ways_set_late(void); /* by what is in the table */

/* The place of a message in these tables; -1: it is shorter. */
static inline int cell_power(int64_t bytes)
{
    if (bytes < INT64_C(1) << CELL_WAYS_FROM)
        return -1;
    int power = 63 - __builtin_clzll((unsigned long long)bytes);
    return (power < CELL_WAYS_TO ? power : CELL_WAYS_TO) - CELL_WAYS_FROM;
}

static inline enum cell_way cell_way(int64_t bytes, bool one_reader)
{
    const int power = cell_power(bytes);
    return power < 0 ? CELLS_SOON : (enum cell_way)cell_ways[one_reader][power];
}

static inline enum cell_trade cell_trade(int64_t bytes)
{
    const int power = cell_power(bytes);
    return power < 0 ? TRADE_NOT : (enum cell_trade)cell_trades[power];
}

static inline bool cell_trade_owns(int64_t bytes)
{
    const int power = cell_power(bytes);
    return power >= 0 && cell_owns[power];
}

/* Of a message that may need several cells of so many bytes: its pieces come back to a cell so late that more places would
 * only throw out of the caches what is wanted again. */
static inline enum cell_way cell_way_of(int64_t bytes, int64_t cell, bool one_reader)
{
    enum cell_way way = cell_way(bytes, one_reader);
    return bytes > cell && way == CELLS_LATE ? CELLS_SOON : way;
}

static inline void cell_write(void *to, const void *from, int64_t bytes, enum cell_way way)
{
    copy_piece(to, from, bytes, way == CELLS_PAST);
}

/* Writes into each line what is there. */
static inline void cell_own(const unsigned char *cell, int64_t bytes)
{
    const int64_t line = 64;
    volatile unsigned char *own = (volatile unsigned char *)(uintptr_t)cell;
    for (int64_t at = 0; at < bytes; at += line)
        own[at] = own[at];
}

/* What has been read of a piece that went this way. */
static inline void cell_has_read(const unsigned char *cell, int64_t bytes, enum cell_way way)
{
    if (way == CELLS_OWNED)
        cell_own(cell, bytes);
}

/* `streaming`: what is written goes past the caches, which must be waited for after each part. Else lines are written into while the
 * core has them at hand. */
static inline void cell_read(void *to, const unsigned char *cell, int64_t bytes, enum cell_way way, bool streaming)
{
    const int64_t part = way == CELLS_OWNED && !streaming ? 1 << 10 : bytes;
    for (int64_t at = 0; at < bytes; at += part) {
        const int64_t now = bytes - at < part ? bytes - at : part;
        copy_piece((char *)to + at, cell + at, now, streaming);
        cell_has_read(cell + at, now, way);
    }
}

#endif
