/* Call paths against what the compiler's unwinder says, for every kind of frame we could think of. */
#include <alloca.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "test_callpath_frames.h"
#include "test_callpath_probe.h"

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

NOINLINE bool recurse(int depth)
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

NOINLINE bool wrapper(int most)
{
    bool right = true;
    CALL(probe(most));
    return right;
}

NOINLINE bool transpose_one(int most)
{
    bool right = true;
    CALL(wrapper(most));
    return right;
}

NOINLINE bool transpose_two(int most)
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
static kind *const kinds[] = {plain, variable, variable_length,    realigned,    realigned_variable,
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
    CHECK(stacks() == 0);
    if (count > 1)
        plugins(words[1]);
    return verdict();
}
