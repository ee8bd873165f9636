/* Persistent collectives of a node (collectives/node/kept.h), with threads for ranks and no MPI running: many requests, which every
 * rank starts in an order of its own, some rank far ahead of the others, until all have started each of them as often; they are given
 * back and made again until their places have been used many times, more at a time than there is room for. What comes must be
 * what was given. Clean under the thread sanitizer too. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "node/given.h"
#include "node/kept.h"
#include "reserve.h"
#include "stub_near.h"
#include "stub_segment.h"

enum { RANKS = 9, GENERATIONS = 40, REQUESTS = 40, STARTS = 12, NUMBERS = 1500 };

static int ranks;
static unsigned char decided[RANKS][GENERATIONS][REQUESTS]; /* 1: ours, 2: the MPI library's */

/* In place of what talks with MPI. */
void wait_longer(struct coll_comm *comm, const _Atomic uint64_t *counter, uint64_t value)
{
    (void)comm;
    while (atomic_load_explicit(counter, memory_order_acquire) < value)
        sched_yield();
}

int64_t room_limit(void)
{
    return (int64_t)65536 * ranks * 16; /* so little that not all requests have a place */
}

static uint32_t mixed(uint32_t a, uint32_t b)
{
    uint32_t x = a * 2654435761u ^ b * 40503u;
    x = (x ^ x >> 15) * 2246822519u;
    x = (x ^ x >> 13) * 3266489917u;
    return x ^ x >> 16;
}

/* One of this rank's. */
struct request {
    struct kept kept;
    struct stub_near near;
    struct call call;
    uint32_t number; /* of all that were made: the same on all ranks */
    bool is_ours, is_active;
    int starts; /* so far */
    uint32_t *given, *got;
};

static void sum(const struct reduction *reduction, const void *left, const void *right, void *result, int64_t count)
{
    const uint32_t *a = left, *b = right;
    uint32_t *c = result;
    (void)reduction;
    for (int64_t i = 0; i < count; i++)
        c[i] = a[i] + b[i];
}

static const enum collective drawn[] = {COLL_IALLREDUCE,
                                        COLL_IBCAST,
                                        COLL_IALLGATHER,
                                        COLL_IBARRIER,
                                        COLL_ISCAN,
                                        COLL_IGATHER,
                                        COLL_IREDUCE,
                                        COLL_IALLTOALL,
                                        COLL_ISCATTER,
                                        COLL_IEXSCAN,
                                        COLL_IREDUCE_SCATTER_BLOCK,
                                        COLL_INEIGHBOR_ALLTOALLV};

static uint32_t number_of(const struct request *request, int start, int rank, int64_t index)
{
    return mixed(request->number * STARTS + (uint32_t)start, (uint32_t)rank * 65536 + (uint32_t)index);
}

/* The same on all ranks, but for where its data is. */
static void make(struct keep *keep, struct request *request, uint32_t number)
{
    uint32_t chance = mixed(number, 1);
    struct call call = {.collective = drawn[chance % (sizeof drawn / sizeof *drawn)],
                        .root = (int)(chance >> 8) % ranks,
                        .reduction = {.element = 4, .combine = sum}};
    const bool is_near = collective_is_near_later(call.collective);
    const bool to_each = is_near || given_bytes(&(struct call){.collective = call.collective, .bytes = 1}, 2) == 2;
    const int64_t most = chance >> 16 & 3 ? 20 : NUMBERS, numbers = 1 + mixed(number, 2) % (uint32_t)most;
    call.count = to_each ? numbers / ranks + 1 : numbers;
    call.bytes = call.collective == COLL_IBARRIER ? 0 : 4 * call.count;
    size_t room = (size_t)(4 * call.count + 4) * (size_t)ranks;
    *request = (struct request){.call = call, .number = number, .given = malloc(room), .got = malloc(room)};
    CHECK(request->given != NULL && request->got != NULL);
    if (is_near)
        stub_near_set(&request->near, &request->call, number, keep->rank, ranks);
    request->call.send = request->given, request->call.receive = request->got;
    request->is_ours = kept_make(&request->kept, keep, &request->call);
}

/* What this rank must get as number `index`. */
static uint32_t expected(const struct request *request, int rank, int64_t index)
{
    const struct call *call = &request->call;
    const int start = request->starts - 1;
    const int64_t count = call->count, from = index / count, in = index % count;
    int until = ranks;
    int64_t at = index;
    uint32_t all = 0;
    switch (call->collective) {
    case COLL_IBCAST: return number_of(request, start, call->root, index);
    case COLL_ISCATTER: return number_of(request, start, call->root, rank * count + index);
    case COLL_IALLTOALL: return number_of(request, start, (int)from, rank * count + in);
    case COLL_IALLGATHER:
    case COLL_IGATHER: return number_of(request, start, (int)from, in);
    case COLL_INEIGHBOR_ALLTOALLV: {
        const int source = request->near.source[from];
        return number_of(request, start, source, stub_near_block(request->number, source, rank) * count + in);
    }
    case COLL_ISCAN: until = rank + 1; break;
    case COLL_IEXSCAN: until = rank; break;
    case COLL_IREDUCE_SCATTER_BLOCK: at = rank * count + index; break;
    default: break;
    }
    for (int i = 0; i < until; i++)
        all += number_of(request, start, i, at);
    return all;
}

static bool gets(const struct call *call, int rank)
{
    switch (call->collective) {
    case COLL_IBARRIER: return false;
    case COLL_IGATHER:
    case COLL_IREDUCE: return rank == call->root;
    case COLL_IBCAST: return rank != call->root;
    case COLL_IEXSCAN: return rank > 0;
    default: return true;
    }
}

static void start(struct request *request, int rank)
{
    const struct call *call = &request->call;
    const bool is_near = collective_is_near_later(call->collective);
    const int64_t numbers = is_near ? request->near.around.targets * call->count : request->kept.given / 4;
    for (int64_t i = 0; i < numbers; i++)
        request->given[i] = number_of(request, request->starts, rank, i);
    memset(request->got, 0, (size_t)(4 * call->count) * (size_t)ranks);
    kept_start(&request->kept);
    memset(request->given, 0xff, (size_t)(4 * numbers)); /* it has been given */
    request->starts++;
    request->is_active = true;
}

/* Whether it is over. */
static bool look(struct request *request, int rank)
{
    const struct call *call = &request->call;
    const bool of_all =
        call->collective == COLL_IALLGATHER || call->collective == COLL_IGATHER || call->collective == COLL_IALLTOALL;
    if (!kept_is_over(&request->kept))
        return false;
    const bool is_near = collective_is_near_later(call->collective);
    const int blocks = is_near ? request->near.around.sources : of_all ? ranks : 1;
    for (int64_t i = 0; gets(call, rank) && i < call->count * blocks; i++)
        if (!is_near || request->near.source[i / call->count] >= 0)
            CHECK(request->got[i] == expected(request, rank, i));
    request->is_active = false;
    return true;
}

/* Starts each of them STARTS times, in an order of its own; some of them one after the other, as the root of a broadcast may. */
static void start_all(struct request *requests, int rank, uint32_t chance)
{
    int left = 0;
    for (int i = 0; i < REQUESTS; i++)
        left += requests[i].is_ours ? STARTS : 0;
    for (uint32_t turn = 0; left > 0; turn++) {
        struct request *one = &requests[mixed(chance, turn + (uint32_t)rank * 99991) % REQUESTS];
        for (int more = (int)(mixed(turn, chance) % 3); one->is_ours && more >= 0; more--) {
            if (!one->is_active && one->starts < STARTS)
                start(one, rank);
            if (one->is_active && !look(one, rank))
                break;
        }
        left = 0;
        for (int i = 0; i < REQUESTS; i++)
            left += requests[i].is_ours && (requests[i].is_active || requests[i].starts < STARTS);
        if (turn % 16 == 15)
            sched_yield();
    }
}

static void *run(void *argument)
{
    const int rank = (int)(intptr_t)argument;
    struct coll_comm comm = {.rank = rank, .ranks = ranks};
    struct keep keep = {.comm = &comm};
    struct shared_place place = {0};
    int file;
    comm.topology.local = rank, comm.topology.locals = ranks, comm.topology.nodes = 1;
    CHECK(rank == 0 ? keep_offer(&keep, &place, &file) : keep_take(&keep, &place));
    static _Thread_local struct request requests[REQUESTS];
    for (int generation = 0; generation < GENERATIONS; generation++) {
        for (int i = 0; i < REQUESTS; i++) { /* some live on: what is free is in pieces */
            struct request *one = &requests[i];
            const uint32_t number = (uint32_t)(generation * REQUESTS + i);
            const bool stays = generation > 0 && generation < GENERATIONS - 1 && mixed(number, 3) % 4 == 0;
            if (!stays && generation > 0) {
                if (one->is_ours)
                    kept_give_back(&one->kept);
                free(one->given);
                free(one->got);
            }
            if (!stays)
                make(&keep, one, number);
            one->starts = 0;
            decided[rank][generation][i] = one->is_ours ? 1 : 2;
        }
        start_all(requests, rank, (uint32_t)generation);
    }
    for (int i = 0; i < REQUESTS; i++) {
        if (requests[i].is_ours)
            kept_give_back(&requests[i].kept);
        free(requests[i].given);
        free(requests[i].got);
    }
    keep_free(&keep);
    return NULL;
}

static void run_ranks(int count)
{
    pthread_t thread[RANKS];
    int ours = 0;
    ranks = count;
    for (int i = 0; i < ranks; i++)
        CHECK(pthread_create(&thread[i], NULL, run, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < ranks; i++)
        pthread_join(thread[i], NULL);
    for (int generation = 0; generation < GENERATIONS; generation++)
        for (int i = 0; i < REQUESTS; i++) {
            for (int rank = 1; rank < ranks; rank++)
                CHECK(decided[rank][generation][i] == decided[0][generation][i]);
            ours += decided[0][generation][i] == 1;
        }
    CHECK(ours > GENERATIONS * REQUESTS / 4 && ours < GENERATIONS * REQUESTS);
    free(memory);
    memory = NULL;
}

/* Pieces of all lengths, taken and given back until there is one piece again. */
static bool is_back_now[64];

static bool is_back(void *with, int64_t at)
{
    (void)with;
    return is_back_now[at / 64];
}

static void room(void)
{
    struct kept_room row;
    kept_room_start(&row, 0, INT64_C(64) * 64);
    for (uint32_t turn = 0; turn < 2000; turn++) {
        int64_t bytes = INT64_C(64) * (1 + mixed(turn, 5) % 9), at = kept_room_take(&row, bytes, is_back, NULL);
        CHECK(at >= -1 && at % 64 == 0 + (at == -1 ? -1 : 0) && at + bytes <= 64 * 64);
        for (int i = 0; i < 64; i++)
            is_back_now[i] = mixed(turn, 100 + (uint32_t)i) % 5 == 0 && i != at / 64;
    }
    for (int i = 0; i < 64; i++)
        is_back_now[i] = true;
    CHECK(kept_room_take(&row, INT64_C(64) * 64, is_back, NULL) == 0);
    CHECK(kept_room_take(&row, 65 * 64, is_back, NULL) == -1);
    kept_room_end(&row);
}

int main(void)
{
    const int counts[] = {2, 3, 5, RANKS};
    room();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        run_ranks(counts[i]);
    return verdict();
}
