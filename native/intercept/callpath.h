/* Who called: the return addresses on the stack, innermost first, in some 10 ns.
 *
 * Unwinding costs a microsecond, and MPI is called over and over from the same few places. So there are three ways to
 * the same answer, each checked against nothing but the stack itself:
 *
 * 1. Seen before. Each thread remembers the paths it took: for the frame of unisono_callpath itself, then for each
 *    caller, in which stack slot the return address is and what it was. The entry is looked for by the stack pointer
 *    and the return address of unisono_callpath; if all slots still hold what they held, the path is the same.
 *    Why that is certain: with the same code address, stack pointer and frame pointer the unwind tables give the same
 *    slots for the return address and for the saved frame pointer. Both are compared (the latter wherever an outer
 *    frame is found by it), so after each slot the next frame's three values are the same too, and so on outward.
 *    The slots are compared in that order and the first difference ends it. So nothing is ever read that unwinding
 *    this very stack would not read: the memory is that of live frames, whatever stack they are on (a thread's, a
 *    coroutine's, a signal handler's), and also if another stack was at that place before.
 * 2. Walked. The unwind rules of each return address (callpath_cfi.h) are remembered by thread: some 5 ns a frame.
 * 3. The compiler's own unwinder, for paths that lead through frames whose rules are not of the simple kinds, such as
 *    signal handlers'.
 *
 * What would break 1 and 2 is other code at the same addresses: objects closed and others opened in their place.
 * dlclose therefore makes all threads forget (callpath_dlclose.c). Code that a just-in-time compiler replaces in place,
 * with a call of MPI that returns to the very same address out of another frame, is not noticed; on a thread's own stack
 * such a walk ends at the end of its memory. */
#ifndef UNISONO_CALLPATH_H
#define UNISONO_CALLPATH_H

#include <stdint.h>

enum { CALLPATH_MOST = 16 };

/* At MPI_Init, in the thread that calls it: prepares this thread and the unwinder, so that nothing allocates later
 * but 250 KiB for each further thread at its first call. */
void unisono_callpath_start(void);

/* Up to `most` (2 to CALLPATH_MOST) return addresses, innermost first: the first is in the caller of the MPI function.
 * Frames of this library and of the MPI library (objects named libmpi*) are left out. Returns how many; `*hash` depends
 * on all of them. Thread safe; a signal handler that interrupts it may call it. */
uint32_t unisono_callpath(const void **frames, int most, uint64_t *hash);

/* Code addresses may mean something else from now on. */
void unisono_callpath_forget(void);

#endif
