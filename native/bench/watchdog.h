/* A rank that hangs dies by itself, even when nobody is left to kill it. */
#ifndef UNISONO_WATCHDOG_H
#define UNISONO_WATCHDOG_H

#include <stdint.h>

/* Ends this process with a message in `nanoseconds` unless disarmed. `what` says what is being done. */
void watchdog_arm(int64_t nanoseconds, int rank, const char *what);

/* What is being done changed; the time goes on. */
void watchdog_note(const char *what);
void watchdog_disarm(void);

enum { WATCHDOG_STATUS = 75 };

#endif
