/* A library that stands for libunisono.so: the program calls `probe`, as it would call MPI. */
#ifndef UNISONO_TEST_CALLPATH_PROBE_H
#define UNISONO_TEST_CALLPATH_PROBE_H

#include <stdbool.h>
#include <stdint.h>

enum { PROBE_MOST = 16 };

/* Takes the call path three times with `most` frames and compares each with what _Unwind_Backtrace says. */
bool probe(int most);
/* The same through further frames of the library's own. */
bool probe_deeper(int most);

/* What the last probe of this thread found, and its hash. */
uint32_t probe_found(const void *const **frames, uint64_t *hash);
/* Calls of this thread that were not answered from memory, modulo 256. */
uint8_t probe_slow(void);
/* Forgets everything, as after a dlclose. */
void probe_forget(void);
/* Takes one path without comparing it: for measuring. */
uint32_t probe_once(int most);
/* Holds what guards the memory of ended threads, or lets go of it. */
void probe_hold(bool held);

#endif
