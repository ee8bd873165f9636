/* The objects whose code is in memory, and where. */
#ifndef UNISONO_MODULES_H
#define UNISONO_MODULES_H

#include "bytes.h"

/* A JSON list of {path, base, end}; an address less its object's base is the address in the ELF file. Reads
 * /proc/self/maps, since the dynamic linker's list may be locked when a program crashes. Async-signal-safe. */
void modules_write(struct bytes *bytes);

#endif
