/* The programs that a rank starts are no ranks. */
#ifndef UNISONO_PRELOAD_H
#define UNISONO_PRELOAD_H

#include <stdbool.h>

/* Takes this library out of LD_PRELOAD in the process's environment, once the process is known to be a rank: a program that it
 * starts would load the library, and with it the MPI library, for nothing. Whatever else is preloaded stays, in its order. Whether it was there. */
bool preload_forget(void);

#endif
