/* Named shared memory between processes of one machine: names, and files that are as large as they say. */
#ifndef UNISONO_SHARED_MEMORY_H
#define UNISONO_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

enum { SHARED_NAME_BYTES = 96 };

/* A name nobody has used, of this user and process. Names that dead processes of the same user left are removed. */
void shared_memory_name(char name[SHARED_NAME_BYTES]);

/* File descriptor, readable by this user alone; negative, with errno set, when there is none. `makes`: it must be new. */
int shared_memory_open(const char *name, bool makes);

/* Makes the pages of one part: "no space" is an answer here where touching a page would end the process. The pages lie
 * in memory near the caller. 0 or an errno. */
int shared_memory_fill(int file, size_t start, size_t bytes);

/* NULL, with errno set, when it cannot be had. */
void *shared_memory_map(int file, size_t bytes);

#endif
