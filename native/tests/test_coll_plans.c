/* Plans of nonblocking collectives over several nodes, played through without MPI: ranks that go on at any time, messages that keep
 * their order between any two of them. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "plan_topology.h"
#include "requests/plan.h"

enum { QUEUE = 64 };

/* Whose vectors are in a vector, each at most once; and in what form, which tells sums apart that are not put together alike. */
struct vector {
    bool has[MOST];
    uint64_t form;
};

struct player {
    struct plan plan;
    int at, count; /* the next step; messages since the last wait */
    struct {
        enum plan_kind kind;
        int peer, number; /* of the message among those of these two ranks */
    } message[QUEUE];
    struct vector mine, beside;
};

static struct player player[MOST];
static struct vector sent[MOST][MOST][QUEUE];
static int sends[MOST][MOST], receives[MOST][MOST];
static bool combines;

static void combine(struct vector *into, const struct vector *left, const struct vector *right)
{
    struct vector result = {.form = (left->form * 31 + right->form) * 31 + 7};
    for (int i = 0; i < topology.ranks; i++) {
        CHECK(!combines || !left->has[i] || !right->has[i]);
        result.has[i] = left->has[i] || right->has[i];
    }
    *into = result;
}

static void begin_message(int rank, const struct plan_step *step)
{
    struct player *me = &player[rank];
    const bool is_send = step->kind == PLAN_SEND;
    int *number = is_send ? &sends[rank][step->peer] : &receives[step->peer][rank];
    CHECK(step->peer >= 0 && step->peer < topology.ranks && step->peer != rank && *number < QUEUE);
    if (is_send)
        sent[rank][step->peer][*number] = me->mine;
    me->message[me->count].kind = step->kind;
    me->message[me->count].peer = step->peer;
    me->message[me->count++].number = (*number)++;
    CHECK(me->count <= me->plan.most);
}

/* Whether what this rank waits for has come; sends are over at once. */
static bool has_come(int rank)
{
    struct player *me = &player[rank];
    for (int i = 0; i < me->count; i++)
        if (me->message[i].kind != PLAN_SEND && sends[me->message[i].peer][rank] <= me->message[i].number)
            return false;
    for (int i = 0; i < me->count; i++)
        if (me->message[i].kind != PLAN_SEND)
            *(me->message[i].kind == PLAN_TAKE ? &me->beside : &me->mine) =
                sent[me->message[i].peer][rank][me->message[i].number];
    if (!combines) /* a barrier: to have heard is enough */
        for (int i = 0; i < me->count; i++)
            if (me->message[i].kind != PLAN_SEND) {
                const struct vector *heard = &sent[me->message[i].peer][rank][me->message[i].number];
                for (int k = 0; k < topology.ranks; k++)
                    me->mine.has[k] = me->mine.has[k] || heard->has[k];
            }
    me->count = 0;
    return true;
}

/* As far as it goes. */
static bool move(int rank)
{
    struct player *me = &player[rank];
    const int before = me->at;
    while (me->at < me->plan.count) {
        const struct plan_step *step = &me->plan.step[me->at];
        if (step->kind == PLAN_WAIT && !has_come(rank))
            break;
        if (step->peer >= 0)
            begin_message(rank, step);
        else if (step->kind == PLAN_COMBINE_LEFT)
            combine(&me->mine, &me->beside, &me->mine);
        else if (step->kind == PLAN_COMBINE_RIGHT)
            combine(&me->mine, &me->mine, &me->beside);
        me->at++;
    }
    return me->at > before;
}

static void play(enum collective collective, int root)
{
    combines = collective == COLL_IREDUCE || collective == COLL_IALLREDUCE;
    memset(sends, 0, sizeof sends);
    memset(receives, 0, sizeof receives);
    for (int rank = 0; rank < topology.ranks; rank++) {
        const struct topology mine = seen_by(rank);
        player[rank] = (struct player){.plan = plan_make(&mine, collective, root)};
        if (collective != COLL_IBCAST || rank == root)
            player[rank].mine.has[rank] = true;
        player[rank].mine.form = (uint64_t)rank + 2;
    }
    int rests = 0;
    for (int turn = 0; rests < 200 * topology.ranks; turn++)
        rests = move(rand() % topology.ranks) ? 0 : rests + 1;
}

static void check_end(enum collective collective, int root)
{
    for (int rank = 0; rank < topology.ranks; rank++) {
        const struct player *me = &player[rank];
        CHECK(me->at == me->plan.count && me->count == 0);
        for (int other = 0; other < topology.ranks; other++)
            CHECK(sends[rank][other] == receives[rank][other]);
        if (collective == COLL_IREDUCE && rank != root)
            continue;
        for (int i = 0; i < topology.ranks; i++)
            CHECK(me->mine.has[i] == (collective != COLL_IBCAST || i == root));
        CHECK(collective != COLL_IALLREDUCE || me->mine.form == player[0].mine.form);
    }
}

int main(void)
{
    static const enum collective all[] = {COLL_IBARRIER, COLL_IBCAST, COLL_IREDUCE, COLL_IALLREDUCE};
    for (int trial = 0; trial < 400; trial++) {
        const int ranks = 2 + rand() % (MOST - 1), nodes = 1 + rand() % ranks;
        draw_topology(ranks, nodes);
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
            const int root = rand() % ranks;
            CHECK(plan_is_there(all[k]));
            play(all[k], root);
            check_end(all[k], root);
            for (int rank = 0; rank < ranks; rank++)
                plan_free(&player[rank].plan);
        }
    }
    CHECK(!plan_is_there(COLL_IALLTOALLV) && !plan_is_there(COLL_BARRIER));
    return verdict();
}
