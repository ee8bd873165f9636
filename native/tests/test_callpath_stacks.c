/* Call paths on threads' stacks, coroutines' and signal handlers', and interrupted ones. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "check.h"
#include "test_callpath_frames.h"
#include "test_callpath_probe.h"

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

#if defined(DLFO_STRUCT_HAS_EH_DBASE) && __GNUC__ >= 12
/* Locks that a handler may have interrupted the holder of: the dynamic linker's, and our own. Held here by another
 * thread, so that one who waits for them is seen to wait. */
static sem_t begin, finished;

static void *finds_paths(void *argument)
{
    sem_wait(&begin);
    probe_forget();
    if (probe_once(8) > 0 && wrapper(8))
        sem_post(&finished);
    return argument;
}

static int meanwhile(struct dl_phdr_info *object, size_t size, void *argument)
{
    (void)object, (void)size, (void)argument;
    struct timespec deadline;
    CHECK(clock_gettime(CLOCK_REALTIME, &deadline) == 0);
    deadline.tv_sec += 30;
    CHECK(sem_post(&begin) == 0 && sem_timedwait(&finished, &deadline) == 0);
    return 1;
}

static void locks(void)
{
    pthread_t thread[2];
    CHECK(sem_init(&begin, 0, 0) == 0 && sem_init(&finished, 0, 0) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&thread[i], NULL, finds_paths, NULL) == 0);
    CHECK(dl_iterate_phdr(meanwhile, NULL) == 1);
    probe_hold(true);
    CHECK(meanwhile(NULL, 0, NULL) == 1);
    probe_hold(false);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}
#else
static void locks(void)
{
}
#endif

int stacks(void)
{
    threads();
    coroutines();
    signals();
    locks();
    interruptions();
    return failures;
}
