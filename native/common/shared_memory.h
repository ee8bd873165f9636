/* Memory shared by processes of one machine: files of /dev/shm that are as large as they say.
 *
 * They have no name, so that nothing is left by processes that die, whenever that is: others open the maker's descriptor
 * in /proc. Where that is not permitted (process numbers of another container, a process that may not be looked into, a
 * kernel without O_TMPFILE) the file has a name until all have it. */
#ifndef UNISONO_SHARED_MEMORY_H
#define UNISONO_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHARED_PATH_BYTES = 104 };

/* Where others find a file. It means something on this machine only, as long as the maker's descriptor is open. */
struct shared_place {
    char path[SHARED_PATH_BYTES]; /* empty: there is none */
    uint64_t device, inode;       /* a process number may be another process' elsewhere */
};

/* A new file, readable by this user alone: its descriptor; negative, with errno set and an empty place, when there is none.
 * A process' first one removes what dead processes of the same user left under names. */
int shared_memory_make(struct shared_place *place, bool named);
/* Descriptor of another process' file; negative, with errno set, when it is not to be had. */
int shared_memory_join(const struct shared_place *place);
/* By the maker, once all have joined. */
void shared_memory_unname(const struct shared_place *place);

/* Makes the pages of one part: "no space" is an answer here where touching a page would end the process. The pages lie
 * in memory near the caller. 0 or an errno: also where the process may have no file that long, of which touching it would be a signal. */
int shared_memory_fill(int file, size_t start, size_t bytes);

/* NULL, with errno set, when it cannot be had, or where it would take the last address space that the process may have. */
void *shared_memory_map(int file, size_t bytes);

#endif
