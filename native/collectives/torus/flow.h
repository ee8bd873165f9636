/* Vectors that go down trees in segments, and up them before, combined, if asked: many at once, each as fast as its
 * messages come. */
#ifndef UNISONO_TORUS_FLOW_H
#define UNISONO_TORUS_FLOW_H

#include "../collectives.h"
#include "trees.h"

/* One tree as one of its members sees it. */
struct stream {
    int parent; /* ranks; -1: this is the root */
    int children[TREE_CHILDREN], child_count;
    int tag; /* of its own among the streams between two ranks */

    /* The vector is dealt out in chunks of `of` segments; this stream carries number `index` of each. */
    char *data;
    int64_t bytes, segment, unit; /* segments and what remains are cut at multiples of `unit` bytes */
    int of, index;
    const struct reduction *reduction; /* NULL: only down. Else `data` is this rank's part, and all's at the end */
    char *arriving;                    /* reductions: FLOW_WINDOW * child_count segments for what comes from below */

    /* Private to flow.c: segments so far. */
    int64_t segments, offered, up_posted, up_done, down_posted, down_done;
    MPI_Request *requests;
};

enum { FLOW_WINDOW = 4 };

/* Where segment `number` of the stream is in `data`. */
int64_t stream_at(const struct stream *stream, int64_t number, int64_t *bytes);
int64_t stream_segments(const struct stream *stream);

struct flow {
    struct fabric *fabric;
    struct stream *streams;
    int count, request_count;
    MPI_Request *requests;
};

/* All streams stay where they are until flow_end, which is called also after errors. MPI error codes. */
int flow_begin(struct flow *flow, struct fabric *fabric, struct stream *streams, int count);
/* The first `segments` segments of this rank's own data are there, to be sent (up, or from the root down). */
void flow_offer(struct flow *flow, int64_t segments);
/* Until the first `segments` segments of every stream are final here and on their way down; moves on what else it can. */
int flow_until(struct flow *flow, int64_t segments);
/* Everything. */
int flow_end(struct flow *flow, int error);

#endif
