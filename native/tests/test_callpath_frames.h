/* Frames that several tests of call paths are made of. */
#ifndef UNISONO_TEST_CALLPATH_FRAMES_H
#define UNISONO_TEST_CALLPATH_FRAMES_H

#include <stdbool.h>

#define NOINLINE __attribute__((noinline))
/* Optimised code keeps no frame pointer, and calls in tail position leave no frame: what follows a call prevents that. */
#define CALL(call)                                                                                                     \
    do {                                                                                                               \
        right &= (call);                                                                                               \
        __asm__ volatile("" ::: "memory");                                                                             \
    } while (0)

/* Probes 16 frames, `depth` calls of itself further in. */
bool recurse(int depth);
/* Probes so many frames. */
bool wrapper(int most);
/* Its two callers. */
bool transpose_one(int most);
bool transpose_two(int most);

/* Call paths on other stacks than the main thread's: how many checks failed (test_callpath_stacks.c). */
int stacks(void);

#endif
