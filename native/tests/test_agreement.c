/* The agreement with threads for ranks and a table for the launcher's key-value space: whatever some ranks lack, however
 * late others come, no two ranks part with different verdicts. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agreement.h"
#include "check.h"

enum { RANKS_MOST = 300, KEYS = 3 };

enum part { PLAYS, ABSENT, DECLINES, DIFFERS, LATE };

static char *table[RANKS_MOST][KEYS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ranks;
static enum part part[RANKS_MOST];
static struct record heard[RANKS_MOST];

static bool put(const struct keyspace *space, int key, const char *value)
{
    pthread_mutex_lock(&lock);
    CHECK(table[space->rank][key] == NULL); /* said once */
    CHECK(strpbrk(value, " =;\n") == NULL && strlen(value) < KEYSPACE_VALUE);
    table[space->rank][key] = strdup(value);
    pthread_mutex_unlock(&lock);
    return true;
}

static bool get(const struct keyspace *space, int rank, int key, char value[KEYSPACE_VALUE])
{
    (void)space;
    pthread_mutex_lock(&lock);
    bool there = table[rank][key] != NULL;
    if (there)
        strcpy(value, table[rank][key]);
    pthread_mutex_unlock(&lock);
    return there;
}

static void host_of(const struct keyspace *space, int rank, char *host, size_t bytes)
{
    (void)space;
    snprintf(host, bytes, "host%d", rank);
}

static struct record said_by(int rank)
{
    struct record own = {.items = 3, .item = {agreement_hash("1.0"), agreement_hash(NULL), agreement_hash("on")}};
    for (int i = 0; i < AGREEMENT_NUMBERS; i++)
        own.least[i] = 1000 + (rank * 7 + i) % ranks;
    if (part[rank] == DIFFERS)
        own.item[2] = agreement_hash("off");
    return own;
}

static double seconds = 60; /* to wait for a silent rank: long on a busy machine, or an emulated one, where none is */

static void *play(void *argument)
{
    int rank = (int)(intptr_t)argument;
    struct keyspace space = {
        .rank = rank, .ranks = ranks, .host = "some host", .put = put, .get = get, .host_of = host_of};
    struct record own = said_by(rank);
    if (part[rank] == LATE)
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    if (part[rank] == DECLINES)
        agreement_decline(&space);
    else if (part[rank] != ABSENT)
        agreement_reach(&space, &own, seconds, &heard[rank]);
    return NULL;
}

/* All ranks to their end; the number that agreed. */
static int run(int count)
{
    pthread_t thread[RANKS_MOST];
    pthread_attr_t small;
    int agreed = 0;
    ranks = count;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    for (int rank = 0; rank < ranks; rank++)
        pthread_create(&thread[rank], &small, play, (void *)(intptr_t)rank);
    for (int rank = 0; rank < ranks; rank++)
        pthread_join(thread[rank], NULL);
    for (int rank = 0; rank < ranks; rank++) {
        bool playing = part[rank] != ABSENT && part[rank] != DECLINES;
        agreed += playing && heard[rank].complaint.trouble == TROUBLE_NONE;
        for (int key = 0; key < KEYS; key++) {
            free(table[rank][key]);
            table[rank][key] = NULL;
        }
    }
    return agreed;
}

static void test_all_are_alike(void)
{
    const int counts[] = {1, 2, 3, 16, 17, 18, 290};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        memset(part, 0, sizeof part);
        CHECK(run(counts[i]) == counts[i]);
        for (int rank = 0; rank < ranks; rank++)
            for (int k = 0; k < AGREEMENT_NUMBERS; k++)
                CHECK(heard[rank].least[k] == (ranks == 1 ? 1000 + k % ranks : 1000));
    }
}

/* One that is not as the others, anywhere in the tree. */
static void test_one_spoils_it(void)
{
    const enum part parts[] = {ABSENT, DECLINES, DIFFERS};
    const enum trouble troubles[] = {TROUBLE_SILENT, TROUBLE_IDLE, TROUBLE_DIFFERENT};
    const int places[] = {0, 1, 5, 16, 17, 39};
    for (size_t p = 0; p < 3; p++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            memset(part, 0, sizeof part);
            char at[32];
            snprintf(at, sizeof at, "host%d", places[i]);
            part[places[i]] = parts[p];
            seconds = parts[p] == ABSENT ? 0.2 : 60.0;
            CHECK(run(40) == 0);
            int witness = places[i] == 0 ? 1 : 0;
            CHECK(heard[witness].complaint.trouble == troubles[p]);
            CHECK(heard[witness].complaint.rank == places[i] || heard[witness].complaint.other == places[i]);
            CHECK(strcmp(heard[witness].complaint.host, parts[p] == ABSENT ? at : "some_host") == 0);
            if (parts[p] == DIFFERS)
                CHECK(heard[witness].complaint.item == 2);
        }
}

/* Late ones may be waited for or not; the others may not be of two minds. */
static void test_never_of_two_minds(void)
{
    srand(7);
    seconds = 0.2;
    for (int round = 0; round < 30; round++) {
        int count = 2 + rand() % 60, playing = 0;
        for (int rank = 0; rank < count; rank++) {
            part[rank] = rand() % 12 == 0 ? (enum part)(rand() % 5) : rand() % 20 == 0 ? LATE : PLAYS;
            playing += part[rank] != ABSENT && part[rank] != DECLINES;
        }
        int agreed = run(count);
        CHECK(agreed == 0 || agreed == playing);
    }
}

static void test_text(void)
{
    char text[KEYSPACE_VALUE];
    struct record record = {.items = AGREEMENT_ITEMS}, back;
    memset(record.item, 0xff, sizeof record.item);
    memset(record.least, 0xff, sizeof record.least);
    record.complaint = (struct complaint){TROUBLE_DIFFERENT, 23, 1 << 30, -1, "", ""};
    memset(record.complaint.host, 'h', AGREEMENT_HOST - 1);
    memset(record.complaint.other_host, 'o', AGREEMENT_HOST - 1);
    record_write(&record, text);
    CHECK(record_read(&back, text) && memcmp(&back, &record, sizeof back) == 0);
    for (size_t length = strlen(text); length-- > 0;) {
        text[length] = '\0';
        CHECK(!record_read(&back, text));
    }
    record.complaint.host[3] = '/';
    record_write(&record, text);
    CHECK(record_read(&back, text) && back.complaint.host[3] == '_');
    CHECK(agreement_hash(NULL) != agreement_hash("") && agreement_hash("a") != agreement_hash("b"));
}

int main(void)
{
    test_text();
    test_all_are_alike();
    test_one_spoils_it();
    test_never_of_two_minds();
    return verdict();
}
