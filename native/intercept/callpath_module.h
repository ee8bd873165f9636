/* Which objects' frames are no part of the program's call path. */
#ifndef UNISONO_CALLPATH_MODULE_H
#define UNISONO_CALLPATH_MODULE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether `pc` is in this library (unless it is linked into the program itself) or in an object named libmpi*. Does not
 * allocate. */
bool callpath_is_left_out(uintptr_t pc);

#endif
