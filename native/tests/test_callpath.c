/* Call paths against what the compiler's unwinder says, for every kind of frame and stack we could think of. */
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "check.h"
#include "test_callpath_probe.h"

#define NOINLINE __attribute__((noinline))
/* Optimised code keeps no frame pointer, and calls in tail position leave no frame: what follows a call prevents that. */
#define CALL(call)                                                                                                     \
    do {                                                                                                               \
        right &= (call);                                                                                               \
        __asm__ volatile("" ::: "memory");                                                                             \
    } while (0)

/* Of the second of two calls: how often memory did not have the answer. */
NOINLINE static unsigned slow_again(bool (*function)(int), int argument)
{
    uint8_t before = 0;
    /* volatile: unrolled, the calls would be two places in the program. */
    for (volatile int turn = 0; turn < 2; turn++) {
        before = probe_slow();
        CHECK(function(argument));
    }
    return (uint8_t)(probe_slow() - before);
}

/* ---- recursion, one wrapper with two callers, depth ------------------------------------------------------------- */

NOINLINE static bool recurse(int depth)
{
    bool right = true;
    if (depth > 0)
        CALL(recurse(depth - 1));
    else
        CALL(probe(16));
    return right;
}

static void recursion(void)
{
    for (int depth = 0; depth < 60; depth++) {
        CHECK(recurse(depth));
        CHECK(slow_again(recurse, depth) == 0);
    }
    CHECK(recurse(3000));
}

NOINLINE static bool wrapper(int most)
{
    bool right = true;
    CALL(probe(most));
    return right;
}

NOINLINE static bool transpose_one(int most)
{
    bool right = true;
    CALL(wrapper(most));
    return right;
}

NOINLINE static bool transpose_two(int most)
{
    bool right = true;
    CALL(wrapper(most));
    return right;
}

static void shared_wrapper(void)
{
    const void *const *frames;
    const void *one[2], *two[2];
    uint64_t hash_one, hash_two, again;
    CHECK(transpose_one(2) && probe_found(&frames, &hash_one) == 2);
    memcpy(one, frames, sizeof one);
    CHECK(transpose_two(2) && probe_found(&frames, &hash_two) == 2);
    memcpy(two, frames, sizeof two);
    CHECK(one[0] == two[0] && one[1] != two[1] && hash_one != hash_two);
    CHECK(transpose_one(2) && probe_found(&frames, &again) == 2 && again == hash_one);
    /* Both have the same stack pointer and return address there, and both are remembered. */
    (void)slow_again(transpose_one, 2);
    CHECK(slow_again(transpose_two, 2) == 0 && slow_again(transpose_one, 2) == 0);
    /* Other depths are other paths. */
    for (int most = 2; most <= 16; most++)
        CHECK(transpose_one(most) && transpose_two(most));
    CHECK(probe_deeper(8));
}

/* ---- frames of all kinds, in random order ----------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 20) % below;
}

static bool onward(int depth);

NOINLINE static bool plain(int depth)
{
    bool right = true;
    CALL(onward(depth));
    return right;
}

NOINLINE static bool variable(int depth)
{
    bool right = true;
    volatile char *room = alloca(16 + draw(2000));
    room[0] = 1;
    CALL(onward(depth));
    return right && room[0] == 1;
}

NOINLINE static bool variable_length(int depth)
{
    bool right = true;
    volatile long room[1 + draw(40)];
    room[0] = depth;
    CALL(onward(depth));
    return right && room[0] == depth;
}

NOINLINE static bool realigned(int depth)
{
    bool right = true;
    _Alignas(64) volatile char room[192];
    room[1] = 5;
    CALL(onward(depth));
    return right && room[1] == 5;
}

NOINLINE static bool realigned_variable(int depth)
{
    bool right = true;
    _Alignas(128) volatile char room[256];
    volatile char *more = alloca(1 + draw(300));
    room[1] = more[0] = 5;
    CALL(onward(depth));
    return right && room[1] == more[0];
}

NOINLINE static bool large(int depth)
{
    bool right = true;
    volatile char room[40000];
    room[39999] = 7;
    CALL(onward(depth));
    return right && room[39999] == 7;
}

NOINLINE static bool busy(int depth)
{
    bool right = true;
    uint64_t v[6];
    for (int i = 0; i < 6; i++)
        v[i] = draw(1000);
    __asm__ volatile("" : "+r"(v[0]), "+r"(v[1]), "+r"(v[2]), "+r"(v[3]), "+r"(v[4]), "+r"(v[5]));
    CALL(onward(depth));
    return right && v[0] + v[1] + v[2] + v[3] + v[4] + v[5] < 6000;
}

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noinline, optimize("no-omit-frame-pointer")))
#else
NOINLINE
#endif
static bool with_frame_pointer(int depth)
{
    bool right = true;
    CALL(onward(depth));
    return right;
}

static int compare(const void *a, const void *b)
{
    (void)b;
    return onward(*(const int *)a) ? 0 : 1;
}

NOINLINE static bool through_libc(int depth)
{
    int key = depth;
    return bsearch(&key, &key, 1, sizeof key, compare) != NULL;
}

NOINLINE static bool in_the_library(int depth)
{
    bool right = true;
    CALL(probe_deeper(2 + (int)draw(15)));
    CALL(onward(depth));
    return right;
}

typedef bool kind(int depth);
static kind *const kinds[] = {plain,  variable, variable_length,    realigned,    realigned_variable,
                              large, busy,     with_frame_pointer, through_libc, in_the_library};

NOINLINE static bool onward(int depth)
{
    bool right = true;
    if (depth == 0)
        CALL(probe(2 + (int)draw(15)));
    else
        CALL(kinds[draw(sizeof kinds / sizeof *kinds)](depth - 1));
    return right;
}

static void random_trees(void)
{
    for (int i = 0; i < 20000; i++)
        CHECK(onward((int)draw(14)));
}

/* A frame of variable size under another one, so that the innermost stack pointer is the same while the outer frames
 * have moved and the old return address still lies where it was. */
NOINLINE static bool inner(int bytes)
{
    bool right = true;
    volatile char *room = alloca((size_t)bytes);
    room[0] = 1;
    CALL(probe(16));
    return right && room[0] == 1;
}

NOINLINE static bool outer(int bytes, int both)
{
    bool right = true;
    volatile char *room = alloca((size_t)bytes);
    room[0] = 1;
    CALL(inner(both - bytes));
    return right && room[0] == 1;
}

static void moved_frames(void)
{
    for (int turn = 0; turn < 3; turn++)
        for (int bytes = 32; bytes <= 4000; bytes += 16)
            CHECK(outer(bytes, 4096));
}

/* ---- other stacks ----------------------------------------------------------------------------------------------- */

static void *thread_body(void *argument)
{
    bool right = true;
    uint32_t turns = *(uint32_t *)argument;
    for (uint32_t i = 0; i < turns; i++) {
        CALL(recurse((int)(i % 20)));
        CALL(wrapper(8));
        CALL(transpose_one(8));
        if (i % 50 == 49)
            probe_forget(); /* all threads at once */
    }
    return right ? argument : NULL;
}

static void threads(void)
{
    for (int round = 0; round < 20; round++) {
        pthread_t thread[4];
        uint32_t turns = 100;
        for (int i = 0; i < 4; i++)
            CHECK(pthread_create(&thread[i], NULL, thread_body, &turns) == 0);
        for (int i = 0; i < 4; i++) {
            void *result = NULL;
            CHECK(pthread_join(thread[i], &result) == 0 && result == &turns);
        }
    }
}

static ucontext_t scheduler, coroutine;
static bool coroutine_right;
static int coroutine_depth;

static void coroutine_body(void)
{
    for (int i = 0; i < 3; i++) {
        coroutine_right &= recurse(coroutine_depth);
        coroutine_right &= transpose_two(4);
        swapcontext(&coroutine, &scheduler);
    }
}

/* Stacks that end at an unmapped page, at the same place one after the other with different ends: what is remembered of
 * the larger must not be read past the end of the smaller. */
static void coroutines(void)
{
    enum { PAGE = 4096, MOST = 64 };
    char *place = mmap(NULL, MOST * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(place != MAP_FAILED);
    for (int pages = MOST - 1; pages >= 16; pages -= 3) {
        CHECK(mprotect(place, (size_t)pages * PAGE, PROT_READ | PROT_WRITE) == 0);
        CHECK(mprotect(place + pages * PAGE, (size_t)(MOST - pages) * PAGE, PROT_NONE) == 0);
        coroutine_right = true;
        coroutine_depth = (MOST - pages) % 7;
        CHECK(getcontext(&coroutine) == 0);
        coroutine.uc_stack.ss_sp = place;
        coroutine.uc_stack.ss_size = (size_t)pages * PAGE;
        coroutine.uc_link = &scheduler;
        makecontext(&coroutine, coroutine_body, 0);
        for (int i = 0; i < 3; i++) {
            CHECK(swapcontext(&scheduler, &coroutine) == 0);
            CHECK(transpose_one(4));
        }
        CHECK(coroutine_right);
    }
    CHECK(munmap(place, MOST * PAGE) == 0);
}

static int handled; /* by atomic operations: threads look at it too */
static bool handled_right = true;

static void handler(int number)
{
    (void)number;
    __atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
    handled_right &= probe(16);
}

/* Out of a handler, on its own stack and on the interrupted one: signal frames are left to the compiler's unwinder. */
static void signals(void)
{
    static char stack[64 * 1024];
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    CHECK(sigaltstack(&other, NULL) == 0);
    for (int flags = 0; flags < 2; flags++) {
        struct sigaction action = {.sa_handler = handler, .sa_flags = flags ? SA_ONSTACK : 0};
        CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
        CHECK(raise(SIGUSR1) == 0 && raise(SIGUSR1) == 0);
    }
    CHECK(handled == 4 && handled_right);
    const stack_t none = {.ss_flags = SS_DISABLE};
    CHECK(sigaltstack(&none, NULL) == 0);
}

/* Handlers that interrupt the recorder itself, wherever that may be. */
static void *interrupted(void *argument)
{
    while (!__atomic_load_n((int *)argument, __ATOMIC_ACQUIRE)) {
        for (int depth = 0; depth < 40; depth++)
            probe_once(8);
        handled_right &= recurse(__atomic_load_n(&handled, __ATOMIC_RELAXED) % 30);
    }
    return NULL;
}

static void interruptions(void)
{
    int stop = 0;
    pthread_t thread;
    handled = 0;
    struct sigaction action = {.sa_handler = handler};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, interrupted, &stop) == 0);
    for (int i = 0; i < 2000; i++) {
        pthread_kill(thread, SIGUSR1);
        if (i % 16 == 0)
            probe_once(8);
    }
    while (__atomic_load_n(&handled, __ATOMIC_RELAXED) == 0)
        probe_once(8);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    CHECK(handled > 0 && handled_right);
}

/* ---- code that comes and goes ----------------------------------------------------------------------------------- */

static void plugins(const char *path)
{
    for (int turn = 0; turn < 20; turn++) {
        void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        CHECK(object != NULL);
        if (object == NULL)
            return;
        bool (*call)(int, int);
        *(void **)&call = dlsym(object, "plugin_call");
        CHECK(call != NULL && call(turn % 5, 16) && call(turn % 5, 16));
        /* What was remembered is forgotten by dlclose, and only by it. */
        unsigned slow[3];
        for (volatile int i = 0; i < 3; i++) {
            if (i == 2)
                CHECK(dlclose(object) == 0);
            uint8_t before = probe_slow();
            CHECK(recurse(2));
            slow[i] = (uint8_t)(probe_slow() - before);
        }
        CHECK(slow[0] == (turn == 0) && slow[1] == 0 && slow[2] == 1);
    }
}

int main(int count, char **words)
{
    recursion();
    shared_wrapper();
    random_trees();
    moved_frames();
    threads();
    coroutines();
    signals();
    interruptions();
    if (count > 1)
        plugins(words[1]);
    return verdict();
}
