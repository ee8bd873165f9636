/* How the two ranks of a node give each other a vector, each at once: each writes where it has just read.
 *
 * A rank that always writes into its own memory, and reads in the other's, waits twice for every line: the line must first be
 * taken away from who read it, and then be fetched from who wrote it. Here a place changes hands with every piece: its reader
 * takes the lines for itself as it reads them, and its own next piece is written there, into its own cache. So a line moves
 * once a piece, and nobody needs to be asked whether a place is free: who writes there has read it. (Such data is called
 * migratory: Cox and Fowler, ISCA 1993; Stenstrom et al., ISCA 1993, whose hardware takes it from the writer alone.)
 *
 * Each rank has TRADE_PLACES places, behind its cells. Piece number n through a place (cells->trades, which both ranks count alike)
 * is written by rank r in the memory of rank r ^ (n & 1). Both post a line for every piece, also where one has no data left
 * for it: it says that the place of the piece before is free. */
#ifndef UNISONO_NODE_TRADE_H
#define UNISONO_NODE_TRADE_H

#include "cells.h"
#include "exchange.h"

struct trade {
    const char *send; /* for the other rank */
    int64_t out;      /* so many bytes */
    char *receive;    /* the other rank's, or the sum */
    int64_t in;       /* bytes; as many as the other rank sends */
    /* Copied meanwhile, as it is its own; where the vectors are to be combined, what the other rank's is combined with. */
    const char *own;
    char *own_to;
    int64_t own_bytes;
    const struct reduction *reduction; /* NULL: what comes is copied */
    bool streaming;                    /* what is received goes past the caches */
};

/* Whether vectors go this way of which the longer one has so many bytes: the same on both ranks. */
bool node_trades(const struct node *node, int64_t bytes);
/* cells_ready(), and two ranks. MPI error code. */
int node_trade(struct coll_comm *comm, const struct trade *trade);

/* Whether two ranks give each other blocks this way, as exchange() would do it otherwise: none is to be read in the other's memory. The
 * same on both ranks. */
bool node_trades_blocks(struct coll_comm *comm, const struct flow *out, const struct flow *in, int64_t pull_from);
int node_trade_blocks(struct coll_comm *comm, const void *send, const struct flow *out, void *receive,
                      const struct flow *in);

#endif
