#include "test_callpath_probe.h"

#include <dlfcn.h>

#include "../intercept/callpath.c"

static _Thread_local const void *found[PROBE_MOST];
static _Thread_local uint32_t found_count;
static _Thread_local uint64_t found_hash;

struct truth {
    const void *frames[PROBE_MOST];
    uint32_t count, most;
    void *own;
};

/* A handler that interrupts dladdr as it takes the dynamic linker's lock, or gives it back, and calls it again would
 * wait for ever: where it can be had, what takes no lock. */
static void *object_of(const void *address)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    struct dl_find_object object;
    return _dl_find_object((void *)(uintptr_t)address, &object) == 0 ? object.dlfo_map_start : NULL;
#else
    Dl_info info;
    return dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
#endif
}

static _Unwind_Reason_Code add(struct _Unwind_Context *context, void *argument)
{
    struct truth *truth = argument;
    const void *pc = (const void *)_Unwind_GetIP(context);
    if (pc != NULL && object_of(pc) != truth->own)
        truth->frames[truth->count++] = pc;
    return truth->count == truth->most ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* Frames beyond STEPS are not looked at; no test comes near. */
__attribute__((noinline)) bool probe(int most)
{
    struct truth truth = {.most = (uint32_t)most, .own = object_of((const void *)&probe)};
    _Unwind_Backtrace(add, &truth);
    /* Compared here and not in what a thread has one of: a signal handler that interrupts this probes as well. */
    const void *frames[PROBE_MOST] = {NULL};
    uint32_t count = 0;
    uint64_t hash = 0, first = 0;
    bool right = true;
    for (int turn = 0; turn < 3; turn++) {
        memset(frames, 0, sizeof frames);
        count = unisono_callpath(frames, most, &hash);
        first = turn == 0 ? hash : first;
        right &= count == truth.count && hash == first && memcmp(frames, truth.frames, count * sizeof *frames) == 0;
    }
    memcpy(found, frames, sizeof found);
    found_count = count;
    found_hash = hash;
    return right;
}

__attribute__((noinline)) static bool through(int most, int *depth)
{
    bool right = probe(most);
    ++*depth;
    return right;
}

bool probe_deeper(int most)
{
    int depth = 0;
    bool right = through(most, &depth);
    return right && depth == 1;
}

uint32_t probe_found(const void *const **frames, uint64_t *hash)
{
    *frames = found;
    *hash = found_hash;
    return found_count;
}

uint8_t probe_slow(void)
{
    uint8_t sum = 0;
    for (int set = 0; mine != NULL && set < SETS; set++)
        sum = (uint8_t)(sum + mine->victim[set]);
    return sum;
}

void probe_forget(void)
{
    unisono_callpath_forget();
}

uint32_t probe_once(int most)
{
    const void *frames[PROBE_MOST];
    uint64_t hash;
    uint32_t count = unisono_callpath(frames, most, &hash);
    return count + (uint32_t)(hash == 0);
}

void probe_hold(bool held)
{
    if (held)
        pthread_mutex_lock(&idle_lock);
    else
        pthread_mutex_unlock(&idle_lock);
}
