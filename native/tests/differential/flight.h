/* What a program does while a call that does not block is under way: other calls on its communicator, blocking or not, and
 * communicators that are made from it, used and freed. */
#ifndef UNISONO_TEST_FLIGHT_H
#define UNISONO_TEST_FLIGHT_H

#include "calls.h"

/* Of a nonblocking trial, sometimes: `between` is set. */
void flight_draw(struct trial *trial);

#endif
