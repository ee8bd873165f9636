/* Plans of nonblocking collectives that lay out their memory themselves, played through without MPI: ranks that go on at any time,
 * messages that keep their order between any two of them, and that may be late. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "plan_topology.h"
#include "requests/plan.h"

enum { QUEUE = 8, BLOCKS = MOST * MOST, NOTHING = -1 };

/* A block is whom it is from and whom it is for: 100 * from + to; for nobody, where a rank has one. What is combined is whom it is
 * for, times ALL, and a bit for each rank that it is from. */
enum { ALL = 1 << MOST };

struct message {
    int blocks, block[BLOCKS];
};

struct player {
    struct plan plan;
    int at, count; /* the next step; messages since the last wait */
    const struct plan_step *under_way[MOST * 2];
    int number[MOST * 2]; /* of each among those of its two ranks */
    int memory[PLAN_GOT + 1][BLOCKS];
};

static struct player player[MOST];
static struct message sent[MOST][MOST][QUEUE];
static int sends[MOST][MOST], receives[MOST][MOST];
static bool in_place, keeps_order;

/* Where a block of a rank is; its size is checked. */
static int *memory(int rank, struct plan_place place, int blocks)
{
    struct player *me = &player[rank];
    const bool has_own = place.where == PLAN_MINE && me->plan.mine == 0;
    const enum plan_where where = has_own || (in_place && place.where == PLAN_GIVEN) ? PLAN_GOT : place.where;
    const int room = where == PLAN_MINE ? me->plan.mine : where == PLAN_BESIDE ? me->plan.beside : topology.ranks;
    CHECK(place.at >= 0 && blocks > 0 && place.at + blocks <= room);
    return &me->memory[where][place.at];
}

/* No message under way has to do with these blocks; where they are not written, one may send them. */
static bool is_free(int rank, const int *block, int blocks, bool writes)
{
    const struct player *me = &player[rank];
    for (int i = 0; i < me->count; i++) {
        const struct plan_step *step = me->under_way[i];
        const int *other = memory(rank, step->place, step->blocks);
        if ((writes || step->kind == PLAN_RECEIVE) && block < other + step->blocks && other < block + blocks)
            return false;
    }
    return true;
}

static struct message *message_of(int rank, const struct plan_step *step, int number)
{
    return step->kind == PLAN_SEND ? &sent[rank][step->peer][number] : &sent[step->peer][rank][number];
}

static void begin_message(int rank, const struct plan_step *step)
{
    struct player *me = &player[rank];
    const bool is_send = step->kind == PLAN_SEND;
    int *number = is_send ? &sends[rank][step->peer] : &receives[step->peer][rank];
    CHECK(step->peer >= 0 && step->peer < topology.ranks && step->peer != rank && *number < QUEUE);
    CHECK(is_free(rank, memory(rank, step->place, step->blocks), step->blocks, !is_send));
    if (is_send)
        message_of(rank, step, *number)->blocks = step->blocks;
    me->under_way[me->count] = step;
    me->number[me->count++] = (*number)++;
    CHECK(me->count <= me->plan.most);
}

/* What is sent is read, and what has come written, as late as at the wait: what is changed before is found. */
static void read_sent(int rank)
{
    const struct player *me = &player[rank];
    for (int i = 0; i < me->count; i++) {
        const struct plan_step *step = me->under_way[i];
        if (step->kind == PLAN_SEND)
            memcpy(message_of(rank, step, me->number[i])->block, memory(rank, step->place, step->blocks),
                   (size_t)step->blocks * sizeof(int));
    }
}

static bool has_come(int rank)
{
    struct player *me = &player[rank];
    for (int i = 0; i < me->count; i++) {
        const struct plan_step *step = me->under_way[i];
        if (step->kind == PLAN_RECEIVE && sends[step->peer][rank] <= me->number[i])
            return false;
    }
    return true;
}

/* The sender reads at its own wait, so what has come is there once it has got there. */
static int waits[MOST], sent_at[MOST][MOST][QUEUE];

static bool has_been_read(int rank)
{
    const struct player *me = &player[rank];
    for (int i = 0; i < me->count; i++) {
        const struct plan_step *step = me->under_way[i];
        if (step->kind == PLAN_RECEIVE && waits[step->peer] <= sent_at[step->peer][rank][me->number[i]])
            return false;
    }
    return true;
}

static void write_received(int rank)
{
    struct player *me = &player[rank];
    for (int i = 0; i < me->count; i++) {
        const struct plan_step *step = me->under_way[i];
        if (step->kind != PLAN_RECEIVE)
            continue;
        const struct message *message = message_of(rank, step, me->number[i]);
        CHECK(message->blocks == step->blocks);
        memcpy(memory(rank, step->place, step->blocks), message->block, (size_t)step->blocks * sizeof(int));
    }
    me->count = 0;
}

static void copy(int rank, const struct plan_step *step)
{
    for (int row = 0; row < step->rows; row++) {
        const struct plan_place from = {step->place.where, step->place.at + row * step->stride},
                                to = {step->to.where, step->to.at + row * step->to_stride};
        const int *source = memory(rank, from, step->blocks);
        int *target = memory(rank, to, step->blocks);
        CHECK(is_free(rank, source, step->blocks, false) && is_free(rank, target, step->blocks, true));
        memmove(target, source, (size_t)step->blocks * sizeof(int));
    }
}

static void reorder(int rank, const struct plan_step *step)
{
    const int *from = memory(rank, step->place, topology.ranks);
    int *to = memory(rank, step->to, topology.ranks), made[MOST];
    CHECK(from != to && step->blocks == topology.ranks);
    CHECK(is_free(rank, from, topology.ranks, false) && is_free(rank, to, topology.ranks, true));
    for (int i = 0; i < topology.ranks; i++)
        made[step->kind == PLAN_BY_NODE ? i : members[i]] = from[step->kind == PLAN_BY_NODE ? members[i] : i];
    memcpy(to, made, (size_t)topology.ranks * sizeof *to);
}

static void combine(int rank, const struct plan_step *step)
{
    const int *with = memory(rank, step->place, step->blocks);
    int *into = memory(rank, step->to, step->blocks);
    CHECK(is_free(rank, with, step->blocks, false) && is_free(rank, into, step->blocks, true));
    for (int i = 0; i < step->blocks; i++) {
        CHECK(with[i] >= 0 && into[i] >= 0 && with[i] / ALL == into[i] / ALL);
        const int left = (step->kind == PLAN_COMBINE_LEFT ? with[i] : into[i]) % ALL,
                  right = (step->kind == PLAN_COMBINE_LEFT ? into[i] : with[i]) % ALL;
        CHECK((left & right) == 0 && (!keeps_order || left < (right & -right)));
        into[i] |= with[i];
    }
}

/* As far as it goes. */
static bool move(int rank)
{
    struct player *me = &player[rank];
    const int before = me->at, waited = waits[rank];
    while (me->at < me->plan.count) {
        const struct plan_step *step = &me->plan.step[me->at];
        if (step->kind == PLAN_WAIT) {
            if (waits[rank] % 2 == 0) { /* it has got there */
                read_sent(rank);
                waits[rank]++;
            }
            if (!has_come(rank) || !has_been_read(rank))
                break;
            write_received(rank);
            waits[rank]++;
        } else if (step->peer >= 0) {
            begin_message(rank, step);
            if (step->kind == PLAN_SEND)
                sent_at[rank][step->peer][me->number[me->count - 1]] = waits[rank];
        } else if (step->kind == PLAN_COPY) {
            copy(rank, step);
        } else if (step->kind == PLAN_COMBINE_LEFT || step->kind == PLAN_COMBINE_RIGHT) {
            combine(rank, step);
        } else {
            reorder(rank, step);
        }
        me->at++;
    }
    return me->at > before || waits[rank] > waited;
}

/* What a rank has, its i-th block. */
static int own(enum collective collective, int rank, int i)
{
    switch (collective) {
    case COLL_IALLGATHER:
    case COLL_IALLGATHERV:
    case COLL_IGATHER: return 100 * rank;
    case COLL_IEXSCAN:
    case COLL_ISCAN: return 1 << rank;
    case COLL_IREDUCE_SCATTER_BLOCK: return i * ALL + (1 << rank);
    default: return 100 * rank + i;
    }
}

static void play(enum collective collective, int root)
{
    const bool scans = collective == COLL_ISCAN || collective == COLL_IEXSCAN;
    const bool has_one =
        collective == COLL_IALLGATHER || collective == COLL_IALLGATHERV || collective == COLL_IGATHER || scans;
    keeps_order = scans;
    memset(sends, 0, sizeof sends);
    memset(receives, 0, sizeof receives);
    memset(waits, 0, sizeof waits);
    for (int rank = 0; rank < topology.ranks; rank++) {
        const struct topology mine = seen_by(rank);
        struct player *me = &player[rank];
        me->plan = plan_make(&mine, collective, root);
        me->at = me->count = 0;
        CHECK(!me->plan.combines || scans || collective == COLL_IREDUCE_SCATTER_BLOCK);
        for (int where = 0; where <= PLAN_GOT; where++)
            for (int i = 0; i < BLOCKS; i++)
                me->memory[where][i] = NOTHING;
        int *given = me->memory[in_place ? PLAN_GOT : PLAN_GIVEN];
        if (collective != COLL_ISCATTER || rank == root)
            for (int i = 0; i < (has_one ? 1 : topology.ranks); i++)
                given[i] = own(collective, rank, i);
    }
    int rests = 0;
    for (int turn = 0; rests < 200 * topology.ranks; turn++)
        rests = move(rand() % topology.ranks) ? 0 : rests + 1;
}

/* How many blocks a rank gets, and its i-th. */
static int gotten(enum collective collective, int root, int rank)
{
    if (collective == COLL_ISCATTER || collective == COLL_ISCAN || collective == COLL_IREDUCE_SCATTER_BLOCK)
        return 1;
    if (collective == COLL_IEXSCAN)
        return rank > 0;
    return collective != COLL_IGATHER || rank == root ? topology.ranks : 0;
}

static int expected(enum collective collective, int root, int rank, int i)
{
    if (collective == COLL_ISCATTER)
        return 100 * root + rank;
    if (collective == COLL_IREDUCE_SCATTER_BLOCK)
        return rank * ALL + (1 << topology.ranks) - 1;
    if (collective == COLL_IEXSCAN || collective == COLL_ISCAN)
        return (1 << (rank + (collective == COLL_ISCAN))) - 1;
    return 100 * i + (collective == COLL_IALLTOALL ? rank : 0);
}

static void check_end(enum collective collective, int root)
{
    for (int rank = 0; rank < topology.ranks; rank++) {
        const struct player *me = &player[rank];
        const int blocks = gotten(collective, root, rank);
        CHECK(me->at == me->plan.count && me->count == 0);
        for (int other = 0; other < topology.ranks; other++)
            CHECK(sends[rank][other] == receives[rank][other]);
        for (int i = 0; i < (in_place ? blocks : BLOCKS); i++)
            CHECK(me->memory[PLAN_GOT][i] == (i < blocks ? expected(collective, root, rank, i) : NOTHING));
    }
}

int main(void)
{
    static const enum collective all[] = {COLL_IALLGATHER, COLL_IALLGATHERV,           COLL_IALLTOALL, COLL_IEXSCAN,
                                          COLL_IGATHER,    COLL_IREDUCE_SCATTER_BLOCK, COLL_ISCAN,     COLL_ISCATTER};
    for (int trial = 0; trial < 600; trial++) {
        const int ranks = 2 + rand() % (MOST - 1), nodes = 1 + rand() % ranks;
        if (trial % 3 == 0)
            draw_in_order(ranks, nodes);
        else
            draw_topology(ranks, nodes);
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            const int root = rand() % ranks;
            in_place = trial % 2 == 0 && (all[k] == COLL_IALLTOALL || all[k] == COLL_IEXSCAN || all[k] == COLL_ISCAN ||
                                          all[k] == COLL_IREDUCE_SCATTER_BLOCK);
            CHECK(plan_is_there(all[k]) && plan_lays_out(all[k]));
            play(all[k], root);
            check_end(all[k], root);
            for (int rank = 0; rank < ranks; rank++)
                plan_free(&player[rank].plan);
        }
    }
    return verdict();
}
