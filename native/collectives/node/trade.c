#include "trade.h"

#include "../reduction.h"
#include "copy.h"

/* Bytes. With TRADE_FETCH what is read is fetched this far ahead; otherwise the processor fetches by itself what is read in order,
   and only the first bytes of a piece are asked for. */
enum { FETCHED = 8 << 10, BEGIN = 2 << 10, PLACE_LINE = 64 };

/* One call. */
struct work {
    struct coll_comm *comm;
    const struct trade *trade;
    enum cell_trade way;
    bool owns;
    int64_t piece, pieces; /* bytes of each but the last; how many */
    uint64_t step;         /* of the first */
    uint64_t before[TRADE_PLACES];
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

bool node_trades(const struct node *node, int64_t bytes)
{
    return node->ranks == 2 && bytes > LINE_ROOM && cell_trade(bytes) != TRADE_NOT;
}

/* Where a rank writes a piece. */
static unsigned char *place_of(const struct work *work, int local, int64_t number)
{
    const struct node *node = work->comm->node;
    const int64_t place = number % TRADE_PLACES;
    const uint64_t turn = work->before[place] + (uint64_t)(number / TRADE_PLACES);
    return (unsigned char *)segment_of(&node->second, local ^ (int)(turn & 1)) + node->cell_stride * CELLS +
           place * node->cells->trade_bytes;
}

/* Bytes of a piece, of a vector that has so many. */
static int64_t within(const struct work *work, int64_t bytes, int64_t number)
{
    const int64_t left = bytes - number * work->piece;
    return left < 0 ? 0 : least(left, work->piece);
}

static void copy_own(const struct work *work, int64_t at, int64_t bytes)
{
    const struct trade *trade = work->trade;
    if (trade->reduction == NULL && trade->own != trade->own_to && bytes > 0)
        copy_piece(trade->own_to + at, trade->own + at, bytes, trade->streaming);
}

static void post(const struct work *work, int64_t number)
{
    const struct trade *trade = work->trade;
    struct node *node = work->comm->node;
    const uint64_t step = work->step + (uint64_t)number;
    const int64_t at = number * work->piece, bytes = within(work, trade->out, number);
    line_room(work->comm, step);
    if (bytes > 0)
        copy_piece(place_of(work, node->rank, number), trade->send + at, bytes, false);
    line_post(node, step);
    copy_own(work, at, within(work, trade->own_bytes, number));
}

/* Takes from the other rank what will be written here next. */
static void fetch(const unsigned char *from, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += PLACE_LINE)
        cpu_prepare_write(from + at);
}

static void combine(const struct work *work, const unsigned char *from, int64_t at, int64_t bytes)
{
    const struct trade *trade = work->trade;
    const struct reduction *reduction = trade->reduction;
    const bool first = work->comm->node->rank == 0;
    const void *own = trade->own + at, *of[2] = {first ? own : from, first ? from : own};
    if (reduction->sum != NULL)
        reduction_fold(reduction, of, 2, trade->receive + at, bytes / reduction->element);
    else
        reduction->combine(reduction, of[0], of[1], trade->receive + at, bytes / reduction->element);
}

static void take(const struct work *work, int64_t number)
{
    const struct trade *trade = work->trade;
    struct node *node = work->comm->node;
    const int other = 1 - node->rank;
    const uint64_t step = work->step + (uint64_t)number;
    const int64_t at = number * work->piece, bytes = within(work, trade->in, number);
    const int64_t element = trade->reduction == NULL ? 1 : trade->reduction->element;
    const bool fetches = work->way == TRADE_FETCH && !trade->streaming;
    const int64_t part = !fetches ? work->piece : element < FETCHED ? FETCHED / element * element : element;
    const unsigned char *from = place_of(work, other, number);
    line_wait(work->comm, other, step);
    node_know(node, number > 0 ? step - 1 : step); /* it posts a piece before it has read the one before */
    fetch(from, least(fetches ? part : BEGIN, bytes));
    if (number + 1 < work->pieces)
        line_expect(node, other, step + 1);
    /* What is not written next by this rank, which sends less, is by the other: of calls like this one behind one another. */
    const int64_t next = number + TRADE_PLACES < work->pieces ? number + TRADE_PLACES : number % TRADE_PLACES;
    const int64_t kept = work->owns ? within(work, trade->out, next) : bytes;
    for (int64_t done = 0; done < bytes; done += part) {
        const int64_t now = least(part, bytes - done);
        if (fetches)
            fetch(from + done + now, least(part, bytes - done - now));
        if (trade->reduction != NULL)
            combine(work, from + done, at + done, now);
        else
            copy_piece(trade->receive + at + done, from + done, now, trade->streaming);
    }
    if (kept < bytes)
        cell_own(from + kept, bytes - kept);
}

int node_trade(struct coll_comm *comm, const struct trade *trade)
{
    struct node *node = comm->node;
    const int64_t most = trade->out > trade->in ? trade->out : trade->in, room = node->cells->trade_bytes;
    const int64_t element = trade->reduction == NULL ? 1 : trade->reduction->element, piece = room / element * element;
    struct work work = {comm, trade, cell_trade(most), cell_trade_owns(most), piece, (most + piece - 1) / piece,
                        0,    {0}};
    work.step = node_steps(node, (uint64_t)work.pieces);
    memcpy(work.before, node->cells->trades, sizeof work.before);
    for (int64_t place = 0; place < TRADE_PLACES; place++)
        node->cells->trades[place] += (uint64_t)((work.pieces + TRADE_PLACES - 1 - place) / TRADE_PLACES);
    /* A piece ahead, so that what one waits for was posted while the one before was read. */
    if (work.pieces > 0)
        post(&work, 0);
    for (int64_t number = 0; number < work.pieces; number++) {
        if (number + 1 < work.pieces)
            post(&work, number + 1);
        take(&work, number);
        node_pass(node, work.step + (uint64_t)number + 1);
    }
    const int64_t copied = least(trade->own_bytes, work.pieces * piece);
    copy_own(&work, copied, trade->own_bytes - copied);
    line_prepare(node);
    return wait_outcome(comm);
}

bool node_trades_blocks(struct coll_comm *comm, const struct flow *out, const struct flow *in, int64_t pull_from)
{
    const struct node *node = comm->node;
    const int other = 1 - node->rank;
    if (node->ranks != 2)
        return false;
    const int64_t sent = flow_bytes(out, other), comes = flow_bytes(in, other), longer = sent > comes ? sent : comes;
    return longer < pull_from && node_trades(node, longer) && cells_ready(comm);
}

/* A block of a buffer, which need not be there where the block is empty. */
static char *block_at(const void *buffer, const struct flow *flow, int local)
{
    return flow_bytes(flow, local) > 0 ? (char *)(uintptr_t)buffer + flow_at(flow, local) : NULL;
}

int node_trade_blocks(struct coll_comm *comm, const void *send, const struct flow *out, void *receive,
                      const struct flow *in)
{
    const int me = comm->node->rank, other = 1 - me;
    struct trade trade = {.send = block_at(send, out, other),
                          .out = flow_bytes(out, other),
                          .receive = block_at(receive, in, other),
                          .in = flow_bytes(in, other),
                          .own = block_at(send, out, me),
                          .own_to = block_at(receive, in, me),
                          .own_bytes = flow_bytes(out, me)};
    trade.streaming = trade.out + trade.in + 2 * trade.own_bytes >= copy_streams_from(2);
    return node_trade(comm, &trade);
}
