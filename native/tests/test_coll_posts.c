/* Nonblocking collectives of a node (collectives/node/posts.h), with threads for ranks and no MPI running: random operations, of
 * which more are under way than there is room for, on ranks that are ahead of one another, and that have the memory from the
 * beginning or come to it one after the other. All must decide alike, and what comes must be what was given. Clean under the
 * thread sanitizer too. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "node/posts.h"
#include "reserve.h"
#include "stub_near.h"
#include "stub_segment.h"

enum {
    RANKS = 12,
    OPERATIONS = 6000,
    NUMBERS = 3000,
    WAIT_EVERY = 150,
    BLOCK = 500,
    AWAY = 150,
    KNOWS = 5,
    BEHIND = 10,
    COME = 350
};

static int ranks;
static bool one_by_one;                          /* ranks come to the memory */
static atomic_int offered;                       /* it is there */
static pthread_barrier_t meeting;                /* after every BLOCK operations */
static unsigned char decided[RANKS][OPERATIONS]; /* 1: ours, 2: the MPI library's */

/* In place of what talks with MPI. */
bool wait_turn(struct coll_comm *comm, unsigned *turn)
{
    (void)comm, (void)turn;
    sched_yield();
    return true;
}

int64_t room_limit(void)
{
    return (int64_t)16384 * ranks * 16; /* arenas of 16 KiB, so that they are soon full */
}

static uint32_t mixed(uint32_t a, uint32_t b)
{
    uint32_t x = a * 2654435761u ^ b * 40503u;
    x = (x ^ x >> 15) * 2246822519u;
    x = (x ^ x >> 13) * 3266489917u;
    return x ^ x >> 16;
}

/* One under way on one rank. */
struct operation {
    struct post post;
    struct stub_near near;
    int rank, number;
    uint32_t given[NUMBERS], *got;
    bool is_over;
};

static void sum(const struct reduction *reduction, const void *left, const void *right, void *result, int64_t count)
{
    const uint32_t *a = left, *b = right;
    uint32_t *c = result;
    (void)reduction;
    for (int64_t i = 0; i < count; i++)
        c[i] = a[i] + b[i];
}

static uint32_t number_of(int operation, int rank, int64_t index)
{
    return mixed((uint32_t)operation * RANKS + (uint32_t)rank, (uint32_t)index);
}

static const enum collective drawn[] = {
    COLL_IALLREDUCE, COLL_IBCAST,   COLL_IALLGATHER, COLL_IBARRIER,           COLL_ISCAN, COLL_IGATHER, COLL_IREDUCE,
    COLL_IALLTOALL,  COLL_ISCATTER, COLL_IEXSCAN,    COLL_INEIGHBOR_ALLTOALLV};

/* Whether a rank has a block for each. */
static bool is_to_each(enum collective collective)
{
    return collective == COLL_IALLTOALL || collective == COLL_ISCATTER || collective_is_near_later(collective);
}

/* The same on all ranks. */
static struct call draw(int operation)
{
    uint32_t chance = mixed((uint32_t)operation, 1);
    struct call call = {.collective = drawn[chance % (sizeof drawn / sizeof *drawn)],
                        .root = (int)(chance >> 8) % ranks,
                        .reduction = {.element = 4, .combine = sum}};
    const bool to_each = is_to_each(call.collective);
    const int64_t most = chance >> 16 & 3 ? 20 : 1000, numbers = 1 + mixed((uint32_t)operation, 2) % (uint32_t)most;
    call.count = to_each ? numbers / ranks + 1 : numbers;
    call.bytes = call.collective == COLL_IBARRIER ? 0 : 4 * call.count;
    return call;
}

static int64_t numbers_given(const struct call *call)
{
    return call->count * (is_to_each(call->collective) ? ranks : 1);
}

/* What this rank must get as number `index`. */
static uint32_t expected(const struct operation *operation, int64_t index)
{
    const struct call *call = &operation->post.call;
    const int64_t count = call->count, from = index / count, in = index % count;
    const int rank = operation->rank, last = call->collective == COLL_ISCAN ? rank + 1 : rank;
    uint32_t all = 0;
    switch (call->collective) {
    case COLL_IBCAST: return number_of(operation->number, call->root, index);
    case COLL_ISCATTER: return number_of(operation->number, call->root, rank * count + index);
    case COLL_IALLTOALL: return number_of(operation->number, (int)from, rank * count + in);
    case COLL_IALLGATHER:
    case COLL_IGATHER: return number_of(operation->number, (int)from, in);
    case COLL_INEIGHBOR_ALLTOALLV: {
        const int source = operation->near.source[from];
        const int64_t block = stub_near_block((uint32_t)operation->number, source, rank);
        return number_of(operation->number, source, block * count + in);
    }
    default:
        for (int i = 0; i < (collective_scans(call->collective) || call->collective == COLL_ISCAN ||
                                     call->collective == COLL_IEXSCAN
                                 ? last
                                 : ranks);
             i++)
            all += number_of(operation->number, i, index);
        return all;
    }
}

static bool gets(const struct operation *operation)
{
    const struct call *call = &operation->post.call;
    switch (call->collective) {
    case COLL_IBARRIER: return false;
    case COLL_IGATHER:
    case COLL_IREDUCE: return operation->rank == call->root;
    case COLL_IBCAST: return operation->rank != call->root;
    case COLL_IEXSCAN: return operation->rank > 0;
    default: return true;
    }
}

static void finish(struct post *post, int error)
{
    struct operation *operation = (struct operation *)post;
    const struct call *call = &post->call;
    const bool of_all =
        call->collective == COLL_IALLGATHER || call->collective == COLL_IGATHER || call->collective == COLL_IALLTOALL;
    const bool is_near = collective_is_near_later(call->collective);
    const int blocks = is_near ? operation->near.around.sources : of_all ? ranks : 1;
    CHECK(error == MPI_SUCCESS);
    for (int64_t i = 0; gets(operation) && i < call->count * blocks; i++)
        if (!is_near || operation->near.source[i / call->count] >= 0)
            CHECK(operation->got[i] == expected(operation, i));
    operation->is_over = true;
    free(operation->got);
    free(operation);
}

/* Before operation k: rank 0 offers the memory at the first and comes to it later, others take it some operations later, and rank 0,
 * which waits for that, is then behind them. */
static void come(struct coll_comm *comm, int k)
{
    struct shared_place place;
    int file;
    const int mine = BEHIND + 1 + (int)(mixed((uint32_t)comm->rank, (uint32_t)ranks) % COME);
    while (comm->rank == 0 && k == BEHIND && !posts_complete(comm->posts))
        sched_yield();
    if (one_by_one && comm->rank == 0 && k == KNOWS)
        posts_come(comm->posts);
    if (comm->posts->segment.base != NULL)
        return;
    while (comm->rank != 0 && k >= mine &&
           !atomic_load(&offered)) /* at the end of the block rank 0 would wait for it for ever */
        sched_yield();
    if (comm->rank == 0) {
        CHECK(posts_offer(comm, 1, &place, &file));
        atomic_store(&offered, 1);
    } else if (k >= mine) {
        CHECK(posts_take(comm, &place));
        usleep(2000); /* rank 0 goes on, before this one has looked at what its next operation is */
    }
}

static void *run(void *argument)
{
    const int rank = (int)(intptr_t)argument;
    struct coll_comm comm = {.rank = rank, .ranks = ranks};
    comm.topology.local = rank, comm.topology.locals = ranks, comm.topology.nodes = 1;
    if (one_by_one)
        posts_announce(&comm);
    else
        CHECK(posts_create(&comm));
    for (int k = 0; k < OPERATIONS; k++) {
        come(&comm, k);
        struct operation *operation = calloc(1, sizeof *operation);
        struct call call = draw(k);
        const struct shape shape = {.bytes = call.bytes};
        CHECK(operation != NULL && posts_fit(&comm, call.collective, &shape));
        for (int64_t i = 0; i < numbers_given(&call); i++)
            operation->given[i] = number_of(k, rank, i);
        operation->got = malloc((size_t)(4 * call.count + 4) * (size_t)ranks);
        if (collective_is_near_later(call.collective))
            stub_near_set(&operation->near, &call, (uint32_t)k, rank, ranks);
        operation->rank = rank, operation->number = k;
        call.send = operation->given, call.receive = operation->got;
        operation->post = (struct post){.call = call, .finish = finish};
        bool ours = posts_number(&comm, &operation->post, false);
        decided[rank][k] = ours ? 1 : 2;
        if (ours) {
            posts_post(&comm, &operation->post);
            memset(operation->given, 0xff, sizeof operation->given);
        } else {
            free(operation->got);
            free(operation);
        }
        uint32_t chance = mixed((uint32_t)k, 100 + (uint32_t)rank);
        if (rank == 0 && k % BLOCK < AWAY) /* finishes none, so that there is no more room */
            continue;
        if (k % BLOCK == BLOCK - 1) {
            while (comm.posts->first != NULL) {
                posts_move(&comm);
                sched_yield();
            }
            pthread_barrier_wait(&meeting);
        }
        if (chance % 7 == 0)
            posts_move(&comm);
        if (chance % 29 == 0)
            sched_yield();
        while (chance % WAIT_EVERY == 0 && comm.posts->first != NULL) {
            posts_move(&comm);
            sched_yield();
        }
    }
    while (comm.posts->first != NULL) {
        posts_move(&comm);
        sched_yield();
    }
    posts_free(&comm);
    return NULL;
}

static void run_ranks(int count, bool come_one_by_one)
{
    pthread_t thread[RANKS];
    int ours = 0, changes = 0;
    ranks = count;
    one_by_one = come_one_by_one;
    atomic_store(&offered, 0);
    pthread_barrier_init(&meeting, NULL, (unsigned)count);
    for (int i = 0; i < ranks; i++)
        CHECK(pthread_create(&thread[i], NULL, run, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < ranks; i++)
        pthread_join(thread[i], NULL);
    for (int k = 0; k < OPERATIONS; k++) {
        for (int i = 1; i < ranks; i++)
            CHECK(decided[i][k] == decided[0][k]);
        ours += decided[0][k] == 1;
        changes += k > 0 && decided[0][k] != decided[0][k - 1];
    }
    /* Of the first block nothing is ours where ranks have only begun to come. */
    const int blocks = OPERATIONS / BLOCK - (one_by_one ? 1 : 0);
    CHECK(ours >= blocks && ours < OPERATIONS && changes >= 2 * blocks - 1);
    CHECK(!one_by_one || decided[0][0] == 2);
    pthread_barrier_destroy(&meeting);
    free(memory);
    memory = NULL;
}

int main(void)
{
    const int counts[] = {2, 3, 5, RANKS};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        run_ranks(counts[i], false);
        run_ranks(counts[i], true);
    }
    return verdict();
}
