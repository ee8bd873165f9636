#include "callpath.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unwind.h>

#include "callpath_cfi.h"
#include "callpath_module.h"

enum {
    RULES = 2048,    /* a power of two: unwind rules remembered by a thread, by return address */
    SETS = 32,       /* powers of two: paths remembered by a thread, by stack pointer */
    WAYS = 8,        /*   and by how many different calls made from there */
    SLOTS = 40,      /* stack slots compared for one path, at most */
    STEPS = 64,      /* frames walked, those left out included */
    LIBRARY_OWN = 1, /* of cfi_rule.own */
};

struct slot {
    const uintptr_t *at;
    uintptr_t value;
};

struct path {
    uintptr_t caller, sp, fp; /* `caller` 0: empty */
    uint64_t hash;
    uint16_t slots, frames;
    uint8_t most;
    bool needs_fp; /* `fp` is part of what must be the same */
    struct slot slot[SLOTS];
    const void *frame[CALLPATH_MOST];
};

struct known {
    uintptr_t pc;
    struct cfi_rule rule;
};

/* What one thread remembers. */
struct memory {
    struct memory *next; /* in the list of those whose thread has ended */
    uint32_t generation;
    bool busy;           /* a signal handler that finds it set must not touch the rest */
    uintptr_t low, high; /* the stack it began on */
    uint8_t hint[SETS], victim[SETS];
    struct known rules[RULES];
    struct path paths[SETS][WAYS];
};

static _Thread_local struct memory *mine __attribute__((tls_model("initial-exec")));
static uint32_t generation = 1;
static pthread_key_t at_thread_end;
static bool has_key;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory *idle;

void unisono_callpath_forget(void)
{
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
}

/* ---- the memory of a thread -------------------------------------------------------------------------------------- */

static void thread_ended(void *argument)
{
    struct memory *memory = argument;
    mine = NULL;
    pthread_mutex_lock(&idle_lock);
    memory->next = idle;
    idle = memory;
    pthread_mutex_unlock(&idle_lock);
}

/* Not at the first use: a handler that interrupts that would wait for it for ever. */
__attribute__((constructor)) static void make_key(void)
{
    has_key = pthread_key_create(&at_thread_end, thread_ended) == 0;
}

/* NULL also while somebody else is at the list: that may be what a signal handler has interrupted, which calls this. */
static struct memory *take_idle(void)
{
    if (pthread_mutex_trylock(&idle_lock) != 0)
        return NULL;
    struct memory *memory = idle;
    if (memory != NULL)
        idle = memory->next;
    pthread_mutex_unlock(&idle_lock);
    return memory;
}

/* NULL without memory to have: then paths are left to the compiler's unwinder. */
static struct memory *begin_thread(void)
{
    const int error = errno;
    struct memory *memory = take_idle();
    if (memory == NULL) {
        memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            errno = error;
            return NULL;
        }
    }
    memory->busy = false;
    memory->generation = 0;
    callpath_mapping((uintptr_t)__builtin_frame_address(0), &memory->low, &memory->high);
    mine = memory;
    /* Without a key the memory stays with the ended thread: 250 KiB that another could have used. */
    if (has_key)
        pthread_setspecific(at_thread_end, memory);
    errno = error;
    return memory;
}

static void forget(struct memory *memory, uint32_t now)
{
    for (int i = 0; i < RULES; i++)
        memory->rules[i].pc = 0;
    for (int set = 0; set < SETS; set++)
        for (int way = 0; way < WAYS; way++)
            memory->paths[set][way].caller = 0;
    memory->generation = now;
}

/* ---- the third way: the compiler's unwinder ---------------------------------------------------------------------- */

struct collected {
    const void **frames;
    uint32_t count, most, steps;
};

static _Unwind_Reason_Code collect(struct _Unwind_Context *context, void *argument)
{
    struct collected *path = argument;
    uintptr_t pc = (uintptr_t)_Unwind_GetIP(context);
    if (pc != 0 && !callpath_is_left_out(pc))
        path->frames[path->count++] = (const void *)pc;
    return path->count == path->most || ++path->steps == STEPS ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static uint64_t hash_of(const void *const *frames, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static uint32_t unwind(const void **frames, uint32_t most, uint64_t *hash)
{
    struct collected path = {.frames = frames, .most = most};
    _Unwind_Backtrace(collect, &path);
    *hash = hash_of(frames, path.count);
    return path.count;
}

/* ---- the second way: by the rules -------------------------------------------------------------------------------- */

static struct cfi_rule rule_for(struct memory *memory, uintptr_t pc)
{
    struct known *known = &memory->rules[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (RULES - 1)];
    if (__builtin_expect(known->pc != pc, 0)) {
        known->pc = 0; /* not half an entry, for a handler that jumps out of here */
        known->rule = cfi_find(pc);
        known->rule.own = callpath_is_left_out(pc) ? LIBRARY_OWN : 0;
        known->pc = pc;
    }
    return known->rule;
}

struct walk {
    struct path *path;
    uintptr_t pc, sp, fp;
    uintptr_t limit;          /* no frame begins at or above it */
    const uintptr_t *fp_slot; /* where `fp` was read; NULL: it is in the register still */
    bool fp_noted;            /* a slot of the path or `needs_fp` vouches for `fp` */
};

/* More slots than there is room for are counted only: such a path is not remembered. */
static inline void note(struct walk *walk, const uintptr_t *at, uintptr_t value)
{
    struct path *path = walk->path;
    if (path->slots < SLOTS)
        path->slot[path->slots] = (struct slot){at, value};
    path->slots++;
}

/* From here on the path depends on the frame pointer. */
static inline void note_fp(struct walk *walk)
{
    if (walk->fp_noted)
        return;
    walk->fp_noted = true;
    if (walk->fp_slot != NULL)
        note(walk, walk->fp_slot, walk->fp);
    else
        walk->path->needs_fp = true;
}

static inline bool inside(const struct walk *walk, uintptr_t address)
{
    return address >= walk->sp && address < walk->limit && address % sizeof(uintptr_t) == 0;
}

/* The stack of this thread is never instrumented memory of somebody else: reading return addresses is no error. */
__attribute__((no_sanitize("address"))) static inline uintptr_t load(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}

/* One frame outward. False: not by these rules. */
static inline bool step(struct walk *walk, struct cfi_rule rule)
{
    uintptr_t cfa;
    if (rule.cfa_base == CFI_SP) {
        cfa = walk->sp + (uintptr_t)(intptr_t)rule.cfa;
    } else {
        note_fp(walk);
        cfa = walk->fp + (uintptr_t)(intptr_t)rule.cfa;
        if (rule.cfa_base == CFI_FP_LOAD) {
            const uintptr_t at = cfa;
            if (!inside(walk, at))
                return false;
            cfa = load(at);
            note(walk, (const uintptr_t *)at, cfa);
        }
    }
    const uintptr_t ra_at = cfa + (uintptr_t)(intptr_t)rule.ra;
    if (cfa <= walk->sp || !inside(walk, ra_at))
        return false;
    const uintptr_t ra = load(ra_at);
    note(walk, (const uintptr_t *)ra_at, ra);
    if (rule.fp_base != CFI_SAME) {
        if (rule.fp_base == CFI_FP)
            note_fp(walk);
        const uintptr_t at = (rule.fp_base == CFI_CFA ? cfa : walk->fp) + (uintptr_t)(intptr_t)rule.fp;
        if (!inside(walk, at))
            return false;
        walk->fp = load(at);
        walk->fp_slot = (const uintptr_t *)at;
        walk->fp_noted = false;
    }
    walk->sp = cfa;
    walk->pc = cfi_plain(ra);
    return true;
}

/* Fills a path from here outward. False: not by these rules alone. */
static bool walk_out(struct memory *memory, struct walk *walk)
{
    struct path *path = walk->path;
    for (int steps = 0; steps < STEPS; steps++) {
        if (walk->pc == 0)
            return true;
        const struct cfi_rule rule = rule_for(memory, walk->pc);
        if (rule.own != LIBRARY_OWN) {
            path->frame[path->frames++] = (const void *)walk->pc;
            if (path->frames == path->most)
                return true;
        }
        if (rule.kind == CFI_END)
            return true;
        if (rule.kind == CFI_HARD || !step(walk, rule))
            return false;
    }
    return true;
}

/* ---- the first way: seen before ---------------------------------------------------------------------------------- */

__attribute__((no_sanitize("address"))) static inline bool same(const struct path *path, uintptr_t caller, uintptr_t sp,
                                                                uintptr_t fp, uint32_t most)
{
    if (path->caller != caller || path->sp != sp || path->most != most || (path->needs_fp && path->fp != fp))
        return false;
    for (uint32_t i = 0; i < path->slots; i++)
        if (*(const volatile uintptr_t *)path->slot[i].at != path->slot[i].value)
            return false;
    return true;
}

static inline uint32_t answer(const struct path *path, const void **frames, uint64_t *hash)
{
    for (uint32_t i = 0; i < path->frames; i++)
        frames[i] = path->frame[i];
    *hash = path->hash;
    return path->frames;
}

struct here {
    uintptr_t pc, sp, fp;
};

static uint32_t slow(struct memory *memory, const struct here *here, uintptr_t caller, uint32_t set,
                     const void **frames, uint32_t most, uint64_t *hash)
{
    const uint32_t way = memory->victim[set]++ & (WAYS - 1);
    struct path *path = &memory->paths[set][way];
    path->caller = 0;
    path->sp = here->sp;
    path->fp = here->fp;
    path->needs_fp = false;
    path->slots = path->frames = 0;
    path->most = (uint8_t)most;
    const bool on_own_stack = here->sp >= memory->low && here->sp < memory->high;
    struct walk walk = {path, here->pc, here->sp, here->fp, on_own_stack ? memory->high : UINTPTR_MAX, NULL, false};
    const int error = errno;
    const bool found = walk_out(memory, &walk);
    errno = error;
    if (!found)
        return unwind(frames, most, hash);
    path->hash = hash_of(path->frame, path->frames);
    if (path->slots <= SLOTS) {
        path->caller = caller;
        memory->hint[set] = (uint8_t)way;
    }
    return answer(path, frames, hash);
}

/* Where we are, in terms of the unwind tables: an address in this function (as one returned to, hence the 1) with the
 * registers as they are at that instruction. */
#if defined(__x86_64__)
#define HERE(h)                                                                                                        \
    __asm__ volatile("lea 1(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2" : "=&r"((h).pc), "=&r"((h).sp), "=&r"((h).fp))
#elif defined(__aarch64__)
#define HERE(h)                                                                                                        \
    __asm__ volatile("adr %0, .+1\n\tmov %1, sp\n\tmov %2, x29" : "=&r"((h).pc), "=&r"((h).sp), "=&r"((h).fp))
#else
#define HERE(h) ((h) = (struct here){0, 0, 0})
#endif

__attribute__((noinline)) uint32_t unisono_callpath(const void **frames, int wanted, uint64_t *hash)
{
    const uint32_t most = wanted < 2 ? 2 : wanted > CALLPATH_MOST ? CALLPATH_MOST : (uint32_t)wanted;
    struct memory *memory = mine;
    if (__builtin_expect(memory == NULL, 0))
        memory = begin_thread();
    if (__builtin_expect(memory == NULL || memory->busy, 0))
        return unwind(frames, most, hash);
    memory->busy = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const uint32_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (__builtin_expect(memory->generation != now, 0))
        forget(memory, now);

    struct here here;
    HERE(here);
    const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    const uint32_t set = (uint32_t)(((here.sp >> 4) * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (SETS - 1);
    uint32_t count;
    /* A program that makes several calls from one place makes them in turn: begin behind the last one found. */
    for (uint32_t i = 0; i < WAYS; i++) {
        const uint32_t way = (memory->hint[set] + i) & (WAYS - 1);
        const struct path *path = &memory->paths[set][way];
        if (same(path, caller, here.sp, here.fp, most)) {
            memory->hint[set] = (uint8_t)way;
            count = answer(path, frames, hash);
            goto done;
        }
    }
    count = slow(memory, &here, caller, set, frames, most, hash);
done:
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memory->busy = false;
    return count;
}

void unisono_callpath_start(void)
{
    const void *frames[CALLPATH_MOST];
    uint64_t hash;
    (void)unwind(frames, CALLPATH_MOST, &hash); /* libgcc allocates, if at all, at its first use */
    (void)unisono_callpath(frames, CALLPATH_MOST, &hash);
}
