#include "record.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "callpath.h"
#include "completion.h"
#include "filter.h"
#include "message.h"

enum { PHASES_DEEP = 64, REHEARSALS = 500 };

struct record record;
unsigned char record_active[FUNCTIONS];
_Thread_local bool record_inside __attribute__((tls_model("initial-exec")));

static _Thread_local struct slab *mine __attribute__((tls_model("initial-exec")));
static bool excluded[FUNCTIONS];
static uint16_t phase_stack[PHASES_DEEP]; /* of the process: [depth - 1] is the current phase's number */
static uint32_t phase_depth;
static uint16_t phase_now;
static pthread_mutex_t phase_lock = PTHREAD_MUTEX_INITIALIZER;

static struct slab *slab_of_thread(void)
{
    if (mine == NULL) {
        uint32_t thread = __atomic_fetch_add(&record.threads, 1, __ATOMIC_RELAXED);
        mine = &record.slab[thread % (uint32_t)record.slabs];
    }
    return mine;
}

static void slab_take(struct slab *slab)
{
    if (record.multiple)
        while (__atomic_test_and_set(&slab->taken, __ATOMIC_ACQUIRE))
            sched_yield();
}

static void slab_give(struct slab *slab)
{
    if (record.multiple)
        __atomic_clear(&slab->taken, __ATOMIC_RELEASE);
}

uint32_t record_call(enum function function, int32_t shape, const struct amount *amount, const struct span *span)
{
    const void *frames[CALLPATH_MOST];
    uint64_t hash = 0;
    uint32_t count = 0;
    bool lost = false;
    if (record.settings.depth > 0)
        count = unisono_callpath(frames, record.settings.depth, &hash);
    struct slab *slab = slab_of_thread();
    slab_take(slab);
    uint32_t path = count > 0 ? table_path(&slab->table, hash, frames, count, &lost) : 0;
    struct place place = place_of(path, (uint16_t)function, __atomic_load_n(&phase_now, __ATOMIC_RELAXED), shape);
    uint32_t cell = table_add(&slab->table, place, amount, ticks_between(span->start, span->end), span->waiting);
    slab_give(slab);
    if (__builtin_expect(lost, false))
        __atomic_fetch_add(&record.paths_lost, 1, __ATOMIC_RELAXED); /* of all threads */
    return cell;
}

uint32_t record_slab(void)
{
    return (uint32_t)(slab_of_thread() - record.slab);
}

bool record_complete(const struct origin *origin, uint64_t calls, uint64_t ticks)
{
    struct slab *slab = &record.slab[origin->slab];
    slab_take(slab);
    bool known = origin->epoch == record_epoch();
    if (known)
        table_complete(&slab->table, origin->cell, calls, ticks);
    slab_give(slab);
    return known;
}

int64_t record_wait(MPI_Comm comm, uint64_t start)
{
    if (comm == MPI_COMM_NULL || comm_group(comm)->inter)
        return NOT_KNOWN;
    PMPI_Barrier(comm);
    return (int64_t)ticks_between(start, ticks_now());
}

static inline void pair_add(struct pair *pair, int64_t bytes)
{
    if (record.multiple) {
        __atomic_fetch_add(&pair->calls, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&pair->bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
    } else {
        pair->calls++;
        pair->bytes += (uint64_t)bytes;
    }
}

void record_message(int world_rank, int64_t bytes)
{
    pair_add(world_rank >= 0 ? &record.pairs[world_rank] : &record.elsewhere, bytes);
}

void record_switch(bool on)
{
    for (int f = 0; f < FUNCTIONS; f++)
        record_active[f] = on && !excluded[f];
    if (!on)
        message_close(); /* what goes by now is not in the log */
}

void record_reset(void)
{
    __atomic_add_fetch(&record.epoch, 1, __ATOMIC_RELAXED); /* before any table: who has it locked still counts there */
    for (int i = 0; i < record.slabs; i++) {
        slab_take(&record.slab[i]);
        table_reset(&record.slab[i].table);
        slab_give(&record.slab[i]);
    }
    memset(record.pairs, 0, (size_t)comms.ranks * sizeof *record.pairs);
    record.elsewhere = (struct pair){0};
    message_reset();
}

/* What recording one call costs: the shortest of three averages over calls that are forgotten afterwards. */
static void rehearse(void)
{
    double shortest = 1e9;
    struct amount amount = amount_of(8, 8, 8);
    for (int round = 0; round < 3; round++) {
        uint64_t start = ticks_clock_ns();
        for (int i = 0; i < REHEARSALS; i++) {
            struct span span;
            record_begin(&span);
            const struct group *group = comm_group(MPI_COMM_WORLD);
            record_end(&span);
            record_call(F_Allreduce, group->shape, &amount, &span);
        }
        double average = (double)(ticks_clock_ns() - start) / REHEARSALS;
        if (average < shortest)
            shortest = average;
    }
    record.overhead_ns = (uint64_t)(shortest + 0.5);
    record_reset();
}

bool record_start(bool multiple)
{
    record.multiple = multiple;
    record.slabs = multiple ? SLABS_MOST : 1;
    record.phase_count = 1;
    for (int i = 0; i < record.slabs; i++)
        if (!table_create(&record.slab[i].table, record.settings.memory / (size_t)record.slabs))
            return false;
    record.pairs = mmap(NULL, (size_t)comms.ranks * sizeof *record.pairs, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (record.pairs == MAP_FAILED)
        return false;
    filter_read(record.settings.filter, excluded);
    if (record.settings.depth > 0)
        unisono_callpath_start();
    completion_start(multiple);
    rehearse();
    bool filtered = memchr(excluded, true, sizeof excluded) != NULL;
    if (record.settings.split_waiting && record.settings.start && !multiple && !filtered)
        message_start();
    return true;
}

static uint16_t phase_number(const char *name)
{
    for (uint32_t i = 0; i < record.phase_count; i++)
        if (strncmp(record.phases[i], name, PHASE_NAME - 1) == 0)
            return (uint16_t)i;
    if (record.phase_count == PHASES_MOST) {
        record.phases_lost++;
        return phase_now;
    }
    strncpy(record.phases[record.phase_count], name, PHASE_NAME - 1);
    return (uint16_t)record.phase_count++;
}

void record_phase_begin(const char *name)
{
    pthread_mutex_lock(&phase_lock);
    uint16_t number = phase_number(name);
    if (phase_depth < PHASES_DEEP)
        phase_stack[phase_depth] = number;
    phase_depth++;
    __atomic_store_n(&phase_now, number, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&phase_lock);
}

void record_phase_end(void)
{
    pthread_mutex_lock(&phase_lock);
    phase_depth -= phase_depth > 0;
    uint32_t outer = phase_depth < PHASES_DEEP ? phase_depth : PHASES_DEEP;
    __atomic_store_n(&phase_now, outer > 0 ? phase_stack[outer - 1] : 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&phase_lock);
}
