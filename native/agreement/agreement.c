#include "agreement.h"

#include <sched.h>
#include <string.h>
#include <time.h>

/* What a rank may say, in this order. */
enum key { KEY_HERE, KEY_RECORD, KEY_VERDICT };

/* Followed by the host's name. */
static const char here[] = "here/", idle[] = "idle/";

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Between two questions: as short as an answer may take at first, then long enough to be no load. */
static void pause_for(const struct keyspace *space, unsigned turn)
{
    const unsigned yields = space->dear ? 0 : 16, doublings = 9;
    const long first = space->dear ? 2000000 : 50000, longest = space->dear ? 500000000 : 20000000;
    if (turn < yields) {
        sched_yield();
        return;
    }
    long wait = first << (turn - yields < doublings ? turn - yields : doublings);
    nanosleep(&(struct timespec){.tv_nsec = wait < longest ? wait : longest}, NULL);
}

/* Asks until there is an answer, or it is `until`; 0: for ever. */
static bool await(const struct keyspace *space, int rank, enum key key, double until, char value[KEYSPACE_VALUE])
{
    for (unsigned turn = 0;; turn += turn < 64) {
        if (space->get(space, rank, key, value))
            return true;
        if (until > 0 && now() > until)
            return false;
        pause_for(space, turn);
    }
}

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* The first complaint stays. */
static void complain(struct record *record, enum trouble trouble, int rank, const char *host)
{
    struct complaint *complaint = &record->complaint;
    if (complaint->trouble != TROUBLE_NONE)
        return;
    *complaint = (struct complaint){.trouble = trouble, .rank = rank, .other = -1};
    agreement_name(complaint->host, host);
}

/* This rank and another one are not alike. */
static void differ(struct record *record, const struct keyspace *space, int item, int rank, const char *host)
{
    complain(record, TROUBLE_DIFFERENT, rank, host);
    record->complaint.item = item;
    record->complaint.other = space->rank;
    agreement_name(record->complaint.other_host, space->host);
}

static void merge(struct record *record, const struct keyspace *space, const struct record *other, int rank,
                  const char *host)
{
    if (record->complaint.trouble != TROUBLE_NONE)
        return;
    if (other->complaint.trouble != TROUBLE_NONE) {
        record->complaint = other->complaint;
        return;
    }
    for (int i = 0; i < record->items; i++)
        if (other->items != record->items || other->item[i] != record->item[i]) {
            differ(record, space, other->items != record->items ? 0 : i, rank, host);
            return;
        }
    for (int i = 0; i < AGREEMENT_NUMBERS; i++)
        record->least[i] = other->least[i] < record->least[i] ? other->least[i] : record->least[i];
}

/* Whether this rank is there, and wants something; and on which host it is. */
static bool is_here(struct record *record, const struct keyspace *space, int rank, double until,
                    char host[AGREEMENT_HOST])
{
    char value[KEYSPACE_VALUE];
    host[0] = '\0';
    if (!await(space, rank, KEY_HERE, until, value)) {
        space->host_of(space, rank, host, AGREEMENT_HOST);
        complain(record, TROUBLE_SILENT, rank, host);
        return false;
    }
    bool wants = begins(value, here);
    agreement_name(host, value + strcspn(value, "/") + 1);
    if (!wants)
        complain(record, TROUBLE_IDLE, rank, host);
    return wants;
}

/* What a rank that is there has promised. */
static void hear(const struct keyspace *space, int rank, const char *host, enum key key, struct record *said)
{
    char value[KEYSPACE_VALUE];
    await(space, rank, key, 0, value);
    if (record_read(said, value))
        return;
    *said = (struct record){.items = 0}; /* another version's */
    differ(said, space, 0, rank, host);
}

static bool say_here(const struct keyspace *space, const char *word)
{
    char value[KEYSPACE_VALUE], host[AGREEMENT_HOST];
    agreement_name(host, space->host);
    agreement_plain(host);
    strcpy(value, word);
    strcat(value, host);
    return space->put(space, KEY_HERE, value);
}

void agreement_reach(const struct keyspace *space, const struct record *own, double seconds, struct record *all)
{
    const int rank = space->rank, parent = rank > 0 ? (rank - 1) / AGREEMENT_CHILDREN : -1;
    const int64_t first = (int64_t)rank * AGREEMENT_CHILDREN + 1, end = first + AGREEMENT_CHILDREN;
    const int children =
        (int)((end < space->ranks ? end : space->ranks) - (first < space->ranks ? first : space->ranks));
    char value[KEYSPACE_VALUE], host[AGREEMENT_HOST], parents_host[AGREEMENT_HOST];
    struct record said;
    *all = *own;
    if (space->ranks == 1)
        return;
    bool told = say_here(space, here);
    double until = now() + seconds;
    bool guided = parent >= 0 && is_here(all, space, parent, until, parents_host);
    for (int i = 0; i < children; i++)
        if (is_here(all, space, (int)first + i, until, host)) {
            hear(space, (int)first + i, host, KEY_RECORD, &said);
            merge(all, space, &said, (int)first + i, host);
        }
    if (!told)
        complain(all, TROUBLE_SILENT, rank, space->host);
    if (parent >= 0) {
        record_write(all, value);
        told = space->put(space, KEY_RECORD, value) && told;
        /* Without a parent, and where the launcher stopped listening, this rank's no is final: its parent never says yes. */
        if (guided && told)
            hear(space, parent, parents_host, KEY_VERDICT, all);
    }
    if (children > 0) {
        record_write(all, value);
        space->put(space, KEY_VERDICT, value);
    }
}

void agreement_decline(const struct keyspace *space)
{
    if (space->ranks > 1)
        say_here(space, idle);
}

void agreement_name(char host[AGREEMENT_HOST], const char *name)
{
    size_t length = strnlen(name, AGREEMENT_HOST - 1);
    memcpy(host, name, length);
    host[length] = '\0';
}

bool agreement_is_here(const struct keyspace *space, int rank)
{
    char value[KEYSPACE_VALUE];
    return space->get(space, rank, KEY_HERE, value) && begins(value, here);
}

uint32_t agreement_hash(const char *text)
{
    uint32_t hash = 2166136261u; /* Fowler, Noll and Vo: FNV-1a, 32 bits */
    for (; text != NULL && *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return text == NULL ? 0 : hash | 1;
}
