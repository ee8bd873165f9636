#include "pending.h"

#include <sched.h>

enum { CHAINS = 2 * PENDING_MOST };

static struct pending pool[PENDING_MOST];
static uint16_t chains[CHAINS]; /* number of the first entry of each */
static uint16_t unused;         /* number of the first entry that is free */
static MPI_Request common[PENDING_COMMON];
static int commons;
static bool several, taken;
uint32_t pending_count;
uint64_t pending_lost;

static void lock(void)
{
    if (several)
        while (__atomic_test_and_set(&taken, __ATOMIC_ACQUIRE))
            sched_yield();
}

static void unlock(void)
{
    if (several)
        __atomic_clear(&taken, __ATOMIC_RELEASE);
}

void pending_start(bool shared)
{
    several = shared;
    for (int i = 0; i < CHAINS; i++)
        chains[i] = PENDING_NONE;
    for (uint16_t i = 0; i < PENDING_MOST; i++)
        pool[i].next = i + 1 < PENDING_MOST ? (uint16_t)(i + 1) : PENDING_NONE;
    unused = 0;
}

void pending_is_common(MPI_Request handle)
{
    for (int i = 0; i < commons; i++)
        if (common[i] == handle)
            return;
    if (commons < PENDING_COMMON)
        common[commons++] = handle;
}

static uint16_t *chain_of(MPI_Request handle)
{
    return &chains[(uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 40 & (CHAINS - 1)];
}

/* Where its number is written, in its chain; NULL: it is not in the table. */
static uint16_t *link_of(MPI_Request handle)
{
    for (uint16_t *link = chain_of(handle); *link != PENDING_NONE; link = &pool[*link].next)
        if (pool[*link].handle == handle)
            return link;
    return NULL;
}

static void enter(uint16_t number)
{
    uint16_t *chain = chain_of(pool[number].handle);
    pool[number].next = *chain;
    *chain = number;
    __atomic_store_n(&pending_count, pending_count + 1, __ATOMIC_RELAXED);
}

void pending_add(MPI_Request handle, const struct origin *origin, bool persists)
{
    for (int i = 0; i < commons; i++)
        if (common[i] == handle)
            return;
    lock();
    uint16_t *known = link_of(handle), number = unused;
    if (known != NULL) { /* that one was completed where nobody saw it */
        pool[*known].origin = *origin;
        pool[*known].persists = persists;
    } else if (number == PENDING_NONE) {
        pending_lost++;
    } else {
        unused = pool[number].next;
        pool[number].handle = handle;
        pool[number].origin = *origin;
        pool[number].persists = persists;
        enter(number);
    }
    unlock();
}

bool pending_take(MPI_Request handle, int32_t place, uint16_t *list)
{
    lock();
    uint16_t *link = link_of(handle);
    if (link != NULL) {
        uint16_t number = *link;
        *link = pool[number].next;
        pool[number].place = place;
        pool[number].next = *list;
        *list = number;
        __atomic_store_n(&pending_count, pending_count - 1, __ATOMIC_RELAXED);
    }
    unlock();
    return link != NULL;
}

struct pending *pending_at(uint16_t number)
{
    return &pool[number];
}

void pending_back(uint16_t number)
{
    lock();
    enter(number);
    unlock();
}

void pending_free(uint16_t number)
{
    lock();
    pool[number].next = unused;
    unused = number;
    unlock();
}
