/* What the process has in memory: whose code an address is, and how far a stack goes. Nothing here allocates. */
#ifndef UNISONO_CALLPATH_MODULE_H
#define UNISONO_CALLPATH_MODULE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether frames at `pc` are no part of the program's call path: it is in this library (unless that is linked into the
 * program itself) or in an object named libmpi*. */
bool callpath_is_left_out(uintptr_t pc);

/* The mapping that holds `address`; all of memory where that cannot be told. The main thread's stack grows: `low` is
 * where it may grow to. */
void callpath_mapping(uintptr_t address, uintptr_t *low, uintptr_t *high);

#endif
