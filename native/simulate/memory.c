#include "memory.h"

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <stdlib.h>

#include "simulated_copy.h"
#include "node/segment.h"
#include "node/wait.h"

static double seconds_seen; /* memory_set() */

/* A rank that waits. All ranks run in one process, one at a time, and let others run only where they call the simulator. */
struct waiter {
    sg_sem_t woken;
    struct waiter *next;             /* on the same node */
    const _Atomic uint64_t *counter; /* to be at least `value`; NULL: anything that is stored */
    uint64_t value;
};

/* By the simulator's number of a rank; those that wait on a node are the host's data. */
static struct waiter **waiters;
static long known;

void memory_set(double seconds)
{
    seconds_seen = seconds;
}

static struct waiter *self(void)
{
    long number = (long)sg_actor_self_get_pid();
    if (number >= known) {
        long more = 2 * number + 64;
        struct waiter **larger = realloc(waiters, (size_t)more * sizeof(struct waiter *));
        if (larger == NULL)
            abort();
        for (long i = known; i < more; i++)
            larger[i] = NULL;
        waiters = larger, known = more;
    }
    if (waiters[number] == NULL) {
        waiters[number] = calloc(1, sizeof(struct waiter));
        if (waiters[number] == NULL)
            abort();
        waiters[number]->woken = sg_sem_init(0);
    }
    return waiters[number];
}

static bool reached(const struct waiter *waiter)
{
    return waiter->counter == NULL || atomic_load_explicit(waiter->counter, memory_order_acquire) >= waiter->value;
}

void memory_stored(void)
{
    sg_host_t host = sg_host_self();
    struct waiter *waiting = sg_host_get_data(host), *waiter, *woken = NULL, **link = &waiting;
    while ((waiter = *link) != NULL) {
        if (!reached(waiter)) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        waiter->next = woken;
        woken = waiter;
    }
    sg_host_set_data(host, waiting);
    while ((waiter = woken) != NULL) { /* the list is settled: others may run from here on */
        woken = waiter->next;
        sg_sem_release(waiter->woken);
    }
}

/* Until it is stored. What this rank still owes for copies it has done meanwhile. */
static void until(const _Atomic uint64_t *counter, uint64_t value)
{
    struct waiter *waiter = self();
    sg_host_t host = sg_host_self();
    double able = simgrid_get_clock() + simulated_copy_owed();
    waiter->counter = counter, waiter->value = value;
    waiter->next = sg_host_get_data(host);
    sg_host_set_data(host, waiter);
    sg_sem_acquire(waiter->woken);
    double seen = simgrid_get_clock() + seconds_seen;
    sg_actor_sleep_until(seen > able ? seen : able);
}

/* Ranks of a simulation do not die. */
bool wait_turn(struct coll_comm *comm, unsigned *turn)
{
    (void)comm;
    ++*turn;
    until(NULL, 0);
    return true;
}

void wait_longer(struct coll_comm *comm, const _Atomic uint64_t *counter, uint64_t value)
{
    (void)comm;
    until(counter, value);
}

/* Before the memory: how many ranks still have it. */
union head {
    int ranks;
    _Alignas(4096) char page[4096];
};

bool segment_agree(const struct coll_comm *comm, bool good)
{
    int mine = good, all = 0;
    return PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm->comm) == MPI_SUCCESS && all;
}

bool segment_create(struct segment *segment, struct coll_comm *comm, int64_t each)
{
    const struct topology *topology = &comm->topology;
    int64_t page = (int64_t)sizeof(union head), rounded = (each + page - 1) / page * page;
    *segment = (struct segment){.each = rounded, .bytes = rounded * topology->locals};
    if (seconds_seen <= 0)
        return false;
    union head *head = NULL;
    if (topology->local == 0) {
        head = calloc(1, sizeof *head + (size_t)segment->bytes);
        if (head == NULL)
            abort();
        head->ranks = topology->locals;
    }
    for (int local = 1; local < topology->locals && topology->local == 0; local++)
        fabric_send(&comm->fabric, &head, sizeof head, topology_rank(topology, topology->node, local), FABRIC_SETUP);
    if (topology->local != 0)
        fabric_receive(&comm->fabric, &head, sizeof head, topology_rank(topology, topology->node, 0), FABRIC_SETUP);
    segment->base = (char *)(head + 1);
    return true;
}

/* Nonblocking calls are not simulated. */
bool segment_offer(struct segment *segment, struct coll_comm *comm, int64_t each, struct shared_place *place, int *file)
{
    (void)comm, (void)each;
    *segment = (struct segment){0};
    *place = (struct shared_place){0};
    *file = -1;
    return false;
}

bool segment_take(struct segment *segment, struct coll_comm *comm, int64_t each, const struct shared_place *place)
{
    (void)comm, (void)each, (void)place;
    *segment = (struct segment){0};
    return false;
}

void segment_free(struct segment *segment)
{
    union head *head = (union head *)(void *)segment->base - 1;
    if (segment->base != NULL && --head->ranks == 0)
        free(head);
    *segment = (struct segment){0};
}
