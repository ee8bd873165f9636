/* How the ranks of a node speak through shared memory: steps, lines and cells.
 *
 * Everything goes in steps, which all ranks of the node count alike: a phase takes as many as it needs
 * (node_steps), the same on all. In one step each rank may post one line (a counter with a few bytes of payload in the
 * same cache line) and with it one cell (up to `cell_bytes` of data), and all may read what others post in that step. A
 * rank says with node_pass() that it has done with reading all steps below a number. Lines and cells are rings: before
 * a rank writes its line or cell of a step it waits until all have passed the step that had the same place
 * (line_room, cell_room).
 *
 *     uint64_t step = node_steps(node, 1);
 *     if (writes) {
 *         line_room(comm, step);                   cell_room(comm, step) if it writes its cell
 *         memcpy(line_of(node, node->rank, step)->payload, data, bytes);
 *         line_post(node, step);
 *     } else
 *         memcpy(data, line_wait(comm, root, step)->payload, bytes);
 *     node_pass(node, step + 1);
 *
 * Every rank must pass every step in the end, read or not. All counters only grow, and each has one writer. */
#ifndef UNISONO_NODE_CELLS_H
#define UNISONO_NODE_CELLS_H

#include <stdatomic.h>

#include "../collectives.h"
#include "cell_ways.h"
#include "pull.h"
#include "room.h"
#include "segment.h"
#include "wait.h"

/* 128: processors fetch neighbours of a cache line in pairs. A line of LINES and a cell of CELLS is used again after so many
 * steps: so far a root gets ahead of the others, which matters where they wait for a CPU. (Zen 5, bcasts of 8 B behind one
 * another, sixteen ranks on two CPUs: 0.9 us each, 1.6 with 16 lines, 0.8 with 64, which take 8 KiB a rank and communicator.)
 * Where ranks have different things to do with a piece, so that each is the better the earlier it comes, it has CELL_PIECE
 * bytes. */
enum {
    LINE_BYTES = 128,
    LINE_ROOM = LINE_BYTES - 8,
    LINES = 32,
    CELLS = 8,
    CELL_PIECE = 32 << 10,
    PREPARED_MOST = 2048,
    TRADE_PLACES = 2
};

struct line {
    _Alignas(LINE_BYTES) _Atomic uint64_t count; /* the last step posted here, plus 1 */
    unsigned char payload[LINE_ROOM];
};

/* One rank's, in the first segment. */
struct shared_rank {
    struct line passed; /* count: this rank reads nothing more of steps below */
    struct line lines[LINES];
};

/* Cells of every rank of a node, which several communicators of these ranks may write to in turn (peers.h). */
struct cells {
    enum { CELLS_UNTRIED, CELLS_NONE, CELLS_MADE } made;
    struct segment segment;
    int64_t stride;                /* from one cell to the next: room for several places in each */
    int64_t trade_bytes;           /* of a place of trade.h */
    uint64_t trades[TRADE_PLACES]; /* pieces that went through each of them */
    struct segment writer;         /* the lines of the communicator for which this rank wrote last */
    uint64_t step;                 /* in which it did */
};

struct node {
    bool shared;           /* else everything goes by messages */
    bool crowded;          /* crowd(): waiting ranks give their CPU away */
    int rank, ranks;       /* topology.local, .locals */
    struct segment first;  /* struct shared_rank of each */
    struct segment second; /* cells, which belong to `cells`; no more than tried when first needed */
    struct cells *cells;
    int64_t cell_bytes;
    int64_t cell_stride; /* of `cells`, once they are there */
    enum cell_way way;   /* of the phase that goes on */
    uint64_t step;       /* the next nobody has taken */
    uint64_t known;      /* all ranks have passed the steps below */
    struct pairs *pairs; /* pairs.h; NULL: not yet, or refused */
    bool pairs_refused;
    struct pull pull; /* whether, and how, ranks read one another's memory */
};

/* Bytes of a cell, where each of the ranks of a node has CELLS of them: longer ones (than 256 KiB none was tried) save flags, and lines
 * that come round later have left the caches of who read them; but a piece is still in its writer's own cache when it is read. (Two ranks, Zen 5, 1 MiB:
 * of 256 KiB instead of 128 allreduces and alltoalls of 256 KiB take 0.88 and 0.94 times as long, allgathers of 512 KiB 0.93 times;
 * of 128 KiB instead of 32 an allreduce of 1 MiB 0.93 times.) */
static inline int64_t cell_bytes_for(int ranks)
{
    /* Of all ranks together; for long ones there is less, as there may be many communicators. */
    const int64_t most = INT64_C(32) << 20, most_long = INT64_C(4) << 20;
    const int64_t largest = copy_own_cache() / 4 >= 256 << 10 ? 256 << 10 : 128 << 10, smallest = 4 << 10;
    int64_t bytes = largest;
    while (bytes > smallest && bytes * CELLS * ranks > room_share(bytes > CELL_PIECE ? most_long : most))
        bytes /= 2;
    return bytes;
}

/* What a cell has room for: all of a rank's together exceed the cache that is a core's own, so that pieces which take turns in
 * all of it (CELLS_LATE) are in the shared cache when they are written anew. Where none do, no more than a cell. */
static inline int64_t cell_stride_for(int ranks)
{
    const int64_t most = INT64_C(32) << 20; /* of all ranks together */
    int64_t stride = cell_bytes_for(ranks);
    while (cell_ways_late && stride * CELLS < 2 * copy_own_cache() && 2 * stride * CELLS * ranks <= room_share(most))
        stride *= 2;
    return stride;
}

/* Bytes of a place of trade.h: two of each rank, its own vectors and the other's are to fit into a core's own cache together. 0:
 * no two ranks, and none. */
static inline int64_t trade_bytes_for(int ranks)
{
    const int64_t smallest = 16 << 10, bytes = copy_own_cache() / 8, most = cell_bytes_for(ranks);
    return ranks != 2 ? 0 : bytes < smallest ? smallest : bytes < most ? bytes / smallest * smallest : most;
}

/* Sets how one rank's memory is divided, and says how long it is: its cells, and behind them its places of trade.h. */
static inline int64_t cells_arrange(struct cells *cells, int ranks)
{
    cells->stride = cell_stride_for(ranks);
    cells->trade_bytes = trade_bytes_for(ranks);
    return cells->stride * CELLS + cells->trade_bytes * TRADE_PLACES;
}

/* Whether there are cells: makes them when called for the first time. Collective over the node; the same on all. */
bool cells_ready(struct coll_comm *comm);

static inline struct shared_rank *shared_rank(const struct node *node, int local)
{
    return (struct shared_rank *)(void *)segment_of(&node->first, local);
}

/* Takes so many steps: the number of the first. */
static inline uint64_t node_steps(struct node *node, uint64_t steps)
{
    uint64_t step = node->step;
    node->step += steps;
    return step;
}

static inline struct line *line_of(const struct node *node, int local, uint64_t step)
{
    return &shared_rank(node, local)->lines[step % LINES];
}

static inline unsigned char *cell_of(const struct node *node, int local, uint64_t step)
{
    return (unsigned char *)segment_of(&node->second, local) + (int64_t)(step % CELLS) * node->cell_stride;
}

/* The same for a piece that has so many bytes at most, in its place there. */
static inline unsigned char *cell_place(const struct node *node, int local, uint64_t step, int64_t bytes,
                                        enum cell_way way)
{
    uint64_t turn = way == CELLS_LATE ? step / CELLS : step % CELLS;
    int64_t room = way == CELLS_LATE ? node->cell_stride : node->cell_bytes;
    return cell_of(node, local, step) + (int64_t)(turn % (uint64_t)(room / bytes)) * bytes;
}

/* The same where pieces of so many bytes, at most a cell, are all that is in it: each a little further on in its cell, or
 * all would be wanted in the same lines of a cache, as cells lie powers of two apart; or in turn all over the cell. */
static inline unsigned char *cell_piece_of(const struct node *node, int local, uint64_t step, int64_t bytes)
{
    return cell_place(node, local, step, bytes, node->way);
}

/* A phase begins in which no rank writes a message of more than so many bytes: the same number on all of them. */
static inline void cells_begin(struct node *node, int64_t bytes)
{
    node->way = cell_way_of(bytes, node->cell_bytes, node->ranks == 2);
}

/* Room for pieces of a message whose longest part has so many bytes: whole lines, at most a cell. */
static inline int64_t cell_piece_for(const struct node *node, int64_t bytes)
{
    const int64_t line = 64;
    int64_t piece = (bytes + line - 1) / line * line;
    return piece < node->cell_bytes ? piece : node->cell_bytes;
}

/* Waits until all have passed every step below. */
void node_await_passed(struct coll_comm *comm, uint64_t step);

static inline void line_room(struct coll_comm *comm, uint64_t step)
{
    if (comm->node->known + LINES < step + 1)
        node_await_passed(comm, step + 1 - LINES);
}

/* Waits until all have read what this rank wrote for another communicator. */
void cells_take(struct coll_comm *comm);

static inline void cell_room(struct coll_comm *comm, uint64_t step)
{
    struct node *node = comm->node;
    if (node->known + CELLS < step + 1)
        node_await_passed(comm, step + 1 - CELLS);
    if (__builtin_expect(node->cells->writer.base != node->first.base, false))
        cells_take(comm);
    node->cells->step = step;
}

/* Others may read this rank's line, and its cell, of the step. */
static inline void line_post(const struct node *node, uint64_t step)
{
    atomic_store_explicit(&line_of(node, node->rank, step)->count, step + 1, memory_order_release);
}

static inline const struct line *line_wait(struct coll_comm *comm, int local, uint64_t step)
{
    const struct line *line = line_of(comm->node, local, step);
    wait_for(comm, &line->count, step + 1);
    return line;
}

/* This rank reads nothing more of steps below. */
static inline void node_pass(struct node *node, uint64_t step)
{
    atomic_store_explicit(&shared_rank(node, node->rank)->passed.count, step, memory_order_release);
}

/* Fetches this rank's line of the next step, to be written: the others have it since they read it last, and taking it
 * away would be what the next call waits for. */
static inline void line_prepare(const struct node *node)
{
    const struct line *line = line_of(node, node->rank, node->step);
    cpu_prepare_write(line);
    cpu_prepare_write(line->payload + LINE_ROOM / 2);
}

/* What a message of so many bytes will take from here on, if it is short: a core has only so many lines under way, and
 * with more of them asked for than that the call would last longer by what the next one gains. (Two ranks, Zen 5: of 1.5
 * or 2 KiB bcast, allreduce, allgather and alltoall take 0.8 to 0.9 times as long with it, of 3 KiB 1.3 times.) */
static inline void memory_prepare(const unsigned char *memory, int64_t bytes)
{
    const int64_t most = PREPARED_MOST, line = 64;
    for (int64_t at = 0; bytes <= most && at < bytes; at += line)
        cpu_prepare_write(memory + at);
}

/* The line of the next step, and its cell for a message of so many bytes in pieces of `piece` (cell_piece_of). */
static inline void cell_prepare(const struct node *node, int64_t bytes, int64_t piece)
{
    line_prepare(node);
    memory_prepare(cell_piece_of(node, node->rank, node->step, piece), bytes);
}

/* Fetches the line that another rank posts in a step, where it has most likely done so, while this one is busy. Never before: the
 * line would be taken away from who is about to write it, and both would wait for it once more. (Two ranks, Zen 5, cores far from
 * each other: allreduces of up to 512 B take 0.65 times as long without it.) */
static inline void line_expect(const struct node *node, int local, uint64_t step)
{
    __builtin_prefetch(line_of(node, local, step));
}

/* All ranks have passed the steps below, as one knows who has seen all of them post something of a later phase. */
static inline void node_know(struct node *node, uint64_t step)
{
    if (node->known < step)
        node->known = step;
}

#endif
