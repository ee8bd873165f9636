/* The queues between two ranks of a node (collectives/node/exchange.h), with threads for ranks and no MPI running: random
 * exchanges of random sizes by every way, and what comes must be what was sent. Clean under the thread sanitizer too. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"
#include "node/exchange.h"

enum { RANKS = 256, SEVERAL_CELLS = 150000 }; /* the most of them */

static int ranks;
static uint32_t rounds;
static int64_t longest; /* bytes of a message */

/* In place of wait.c and segment.c, which talk with MPI. */
bool wait_turn(struct coll_comm *comm, unsigned *turn)
{
    (void)comm, (void)turn;
    sched_yield();
    return true;
}

/* Whether memory can be read by the kernel's call: not under an emulator, nor where a filter of calls forbids it. */
static bool pulls;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *memory;

bool segment_create(struct segment *segment, struct coll_comm *comm, int64_t each)
{
    int64_t page = 4096, rounded = (each + page - 1) / page * page, bytes = rounded * comm->node->ranks;
    pthread_mutex_lock(&lock);
    if (memory == NULL) {
        memory = aligned_alloc((size_t)page, (size_t)bytes);
        if (memory != NULL)
            memset(memory, 0, (size_t)bytes);
    }
    pthread_mutex_unlock(&lock);
    *segment = (struct segment){.base = memory, .each = rounded, .bytes = bytes};
    return memory != NULL;
}

void segment_free(struct segment *segment)
{
    segment->base = NULL;
}

/* The same on all ranks without a word: what is asked is mixed into a number. */
static uint32_t mixed(uint32_t round, uint32_t from, uint32_t to)
{
    uint32_t x = round * 2654435761u ^ from * 40503u ^ to * 2246822519u;
    x = (x ^ x >> 15) * 2246822519u;
    x = (x ^ x >> 13) * 3266489917u;
    return x ^ x >> 16;
}

/* Of every kind: none, beside a flag, in a slot, one cell, several. */
static int64_t size_of(uint32_t round, int from, int to)
{
    static const int64_t edges[] = {0, 1, PAIR_ROOM, PAIR_ROOM + 1, 4096, 4097, 32768, 32769, SEVERAL_CELLS};
    uint32_t x = mixed(round, (uint32_t)from, (uint32_t)to);
    int64_t bytes = x % 3 == 0 ? edges[x / 3 % 9] : x / 3 % (x / 7 % 5 == 0 ? 60000 : 500);
    return bytes < longest ? bytes : longest;
}

/* Byte i of a message is its first byte + 7 i + i / 256. A stretch of 256 of them is one of the sevenfold numbers, which the
 * library's own functions copy and compare: bytes one by one would take most of the test where every access is checked. */
enum { STRETCH = 256, SEVENTH = 183 /* times 7 is 1, modulo 256 */ };
static unsigned char sevenfold[2 * STRETCH];

static void make_sevenfold(void)
{
    for (int i = 0; i < 2 * STRETCH; i++)
        sevenfold[i] = (unsigned char)(7 * i);
}

static const unsigned char *stretch_of(uint32_t first, int64_t number)
{
    return sevenfold + (first + (uint32_t)number) * SEVENTH % STRETCH;
}

static size_t stretch_bytes(int64_t number, int64_t bytes)
{
    return (size_t)(bytes - number * STRETCH < STRETCH ? bytes - number * STRETCH : STRETCH);
}

static void write_message(uint32_t round, int from, int to, char *message, int64_t bytes)
{
    const uint32_t first = mixed(round, (uint32_t)from, (uint32_t)to);
    for (int64_t i = 0; i * STRETCH < bytes; i++)
        memcpy(message + i * STRETCH, stretch_of(first, i), stretch_bytes(i, bytes));
}

/* In how many stretches there is a byte that is not the one that was written. */
static int wrong_stretches(uint32_t round, int from, int to, const char *message, int64_t bytes)
{
    const uint32_t first = mixed(round, (uint32_t)from, (uint32_t)to);
    int wrong = 0;
    for (int64_t i = 0; i * STRETCH < bytes; i++)
        wrong += memcmp(message + i * STRETCH, stretch_of(first, i), stretch_bytes(i, bytes)) != 0;
    return wrong;
}

struct rank {
    struct coll_comm comm;
    struct node node;
    int process[RANKS];
    int wrong;
};

/* Everybody to everybody; or only from, or only to, one root. */
static void exchange_once(struct rank *rank, uint32_t round, char *send, char *receive)
{
    int64_t out[RANKS], out_at[RANKS], in[RANKS], in_at[RANKS], sent = 0, received = 0;
    int me = rank->node.rank, kind = (int)(round % 4), root = (int)(round / 4) % ranks;
    for (int i = 0; i < ranks; i++) {
        out[i] = (kind == 2 && i != root) || (kind == 3 && me != root) ? 0 : size_of(round, me, i);
        in[i] = (kind == 2 && me != root) || (kind == 3 && i != root) ? 0 : size_of(round, i, me);
        out_at[i] = sent, in_at[i] = received;
        sent += out[i], received += in[i];
        write_message(round, me, i, send + out_at[i], out[i]);
    }
    memset(receive, 0, (size_t)received + 1);
    static const int64_t from[] = {INT64_MAX, PAIR_ROOM + 1, 5000};
    const struct flow flow_out = {-1, 0, out, out_at}, flow_in = {-1, 0, in, in_at};
    int error = exchange(&rank->comm, send, &flow_out, receive, &flow_in, pulls ? from[round / 12 % 3] : INT64_MAX);
    rank->wrong += error != MPI_SUCCESS || receive[received] != 0;
    for (int i = 0; i < ranks; i++)
        rank->wrong += wrong_stretches(round, i, me, receive + in_at[i], in[i]);
}

/* Of an exchange in lines alone; every fourth is of blocks alike. */
static int64_t short_size(uint32_t round, int from, int to)
{
    bool alike = round % 4 == 0;
    return (int64_t)(mixed(round, alike ? 0 : (uint32_t)from, alike ? 0 : (uint32_t)to) % (PAIR_ROOM + 1));
}

/* In lines alone; half of the ranks know that it is, the others find it. */
static void inline_once(struct rank *rank, uint32_t round, char *send, char *receive)
{
    int64_t out[RANKS], in[RANKS], at[RANKS];
    int me = rank->node.rank;
    for (int i = 0; i < ranks; i++) {
        out[i] = short_size(round, me, i), in[i] = short_size(round, i, me), at[i] = i * PAIR_ROOM;
        write_message(round, me, i, send + at[i], out[i]);
    }
    const struct flow flow_out = {-1, 0, out, at}, flow_in = {-1, 0, in, at};
    rank->wrong += (me % 2 ? exchange_inline(&rank->comm, send, &flow_out, receive, &flow_in)
                           : exchange(&rank->comm, send, &flow_out, receive, &flow_in, INT64_MAX)) != MPI_SUCCESS;
    for (int i = 0; i < ranks; i++)
        rank->wrong += wrong_stretches(round, i, me, receive + at[i], in[i]);
}

static void *run(void *argument)
{
    struct rank *rank = argument;
    const size_t room = ((size_t)ranks + 1) * (size_t)longest;
    char *send = malloc(room), *receive = malloc(room);
    rank->wrong += send == NULL || receive == NULL || !pairs_ready(&rank->comm);
    for (uint32_t round = 0; round < rounds && rank->wrong == 0; round++) {
        exchange_once(rank, round, send, receive);
        inline_once(rank, round, send, receive);
    }
    pairs_free(&rank->node);
    free(send);
    free(receive);
    return NULL;
}

static void test_exchanges(int how_many, uint32_t how_often, int64_t bytes)
{
    static struct rank all[RANKS];
    pthread_t threads[RANKS];
    memset(all, 0, sizeof all);
    ranks = how_many, rounds = how_often, longest = bytes;
    for (int i = 0; i < ranks; i++) {
        struct rank *rank = &all[i];
        rank->node = (struct node){.shared = true, .rank = i, .ranks = ranks};
        rank->node.pull = (struct pull){.works = pulls, .local = i, .process = rank->process};
        for (int k = 0; k < ranks; k++)
            rank->process[k] = (int)getpid();
        rank->comm.node = &rank->node;
        CHECK(pthread_create(&threads[i], NULL, run, rank) == 0);
    }
    for (int i = 0; i < ranks; i++) {
        pthread_join(threads[i], NULL);
        CHECK(all[i].wrong == 0);
    }
    free(memory);
    memory = NULL;
}

/* What cannot be read is an error, and what is not to be read is none. */
static void test_pull(void)
{
    int process[] = {0, (int)getpid()};
    struct pull pull = {.works = true, .local = 0, .process = process};
    char from[] = "as it was", to[sizeof from] = "";
    CHECK(pull_read(&pull, 1, pull_address(from), to, sizeof from) == MPI_SUCCESS && memcmp(from, to, sizeof to) == 0);
    CHECK(pull_write(&pull, 1, pull_address(from), "as it is!", sizeof from) == MPI_SUCCESS);
    CHECK(strcmp(from, "as it is!") == 0);
    CHECK(pull_read(&pull, 1, 8, to, sizeof to) != MPI_SUCCESS);
    CHECK(pull_write(&pull, 1, 8, to, sizeof to) != MPI_SUCCESS);
    CHECK(pull_read(&pull, 1, 8, to, 0) == MPI_SUCCESS);
    CHECK(pull_read(&pull, 0, pull_address(from), to, sizeof from) == MPI_SUCCESS && memcmp(from, to, sizeof to) == 0);
    process[1] = 0x7ffffff; /* nobody */
    CHECK(pull_read(&pull, 1, pull_address(from), to, sizeof from) != MPI_SUCCESS);
}

/* How one message goes depends on its length alone, in the order of lengths. */
static void test_ways(void)
{
    CHECK(exchange_way(0, 4096, INT64_MAX) == WAY_INLINE && exchange_way(PAIR_ROOM, 4096, 1000) == WAY_INLINE);
    CHECK(exchange_way(PAIR_ROOM + 1, 4096, INT64_MAX) == WAY_SLOT && exchange_way(4096, 4096, 5000) == WAY_SLOT);
    CHECK(exchange_way(4097, 4096, 5000) == WAY_CELLS && exchange_way(5000, 4096, 5000) == WAY_PULL);
    CHECK(exchange_way(PAIR_ROOM + 1, PAIR_ROOM, INT64_MAX) == WAY_CELLS);
    for (int64_t bytes = 1; bytes < 10000; bytes++)
        CHECK(exchange_way(bytes, 2048, 8192) >= exchange_way(bytes - 1, 2048, 8192));
}

/* Where what is received goes past the caches: of 32 MiB for two ranks. */
static void test_streams(void)
{
    const int64_t cache = INT64_C(32) << 20;
    copy_agree_on_cache(cache);
    CHECK(copy_streams_from(2) == cache && copy_streams_from(4) == cache / 2 &&
          copy_streams_between(2) == cache * 3 / 4);
    copy_stream_early(true);
    CHECK(copy_streams_from(2) == cache * 5 / 8);
    copy_stream_from(INT64_MAX);
    CHECK(copy_streams_from(2) == INT64_MAX);
    copy_stream_from(0);
    copy_stream_early(false);
    CHECK(copy_streams_from(2) == cache);
}

static bool can_pull(void)
{
    char from = 'x', to = 0;
    struct iovec here = {&to, 1}, there = {&from, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 && to == 'x';
}

int main(void)
{
    pulls = can_pull();
    make_sevenfold();
    test_ways();
    test_streams();
    if (pulls)
        test_pull();
    else
        printf("process_vm_readv does not work here: what reads another process is not tested\n");
    test_exchanges(3, 400, SEVERAL_CELLS);
    memset(cell_ways[true], CELLS_OWNED, sizeof cell_ways[true]);
    test_exchanges(3, 200, SEVERAL_CELLS);
    memset(cell_ways[true], CELLS_SOON, sizeof cell_ways[true]);
    test_exchanges(64, 6, SEVERAL_CELLS); /* as many as large nodes have: slots are shorter, cells fewer */
    test_exchanges(128, 2, SEVERAL_CELLS);
    test_exchanges(RANKS, 2, 8000);
    return verdict();
}
