/* Copying what is longer than a cache.
 *
 * Pieces of a long transfer are copied one by one, and memcpy sees only the piece: it brings every line of the
 * destination into the cache before it overwrites it, and throws out what would be wanted again. Stores past the cache
 * (non-temporal) spare memory that traffic. Below the size of the cache they are slower, as the destination must come
 * back from memory when it is used. */
#ifndef UNISONO_NODE_COPY_H
#define UNISONO_NODE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Writing past the cache pays where what one rank reads and writes is at least so many bytes, if `ranks` ranks do the
 * same at once: twice the last cache for all together, or, where that was measured to pay, 1.25 times. (Two ranks, 32 MiB, cells. Zen 5:
 * allgather of 4 MiB takes 2.2 times as long with it, of 8 MiB 1.1 times, of 16 MiB the same; alltoall of 4 MiB 1.6 times, of
 * 8 MiB 0.95, of 16 MiB 0.85 times. Zen 4: allgather of 4 MiB 0.9 times, of 8 MiB 0.8 times.) */
int64_t copy_streams_from(int ranks);

/* Between the two: so many bytes are to be tried (dispatch/trial_streams.h). */
int64_t copy_streams_between(int ranks);
/* Whether it was found to pay there: the same on all ranks. */
void copy_stream_early(bool early);
/* For a trial: from so many bytes on, whatever was measured; 0: no more. */
void copy_stream_from(int64_t bytes);

/* The largest cache that a core of this rank sees, in bytes, and what all ranks take it for: the choice of a way depends
 * on it, so without an agreement it is what is usual. */
int64_t copy_last_cache(void);
void copy_agree_on_cache(int64_t bytes);

/* The same of the largest cache that is a core's own: what this rank sees, and what all take it for. */
int64_t copy_own_cache_here(void);
int64_t copy_own_cache(void);
void copy_agree_on_own_cache(int64_t bytes);

/* Past the cache; what follows a release after it is ordered as after any other store. */
void copy_streaming(void *to, const void *from, size_t bytes);

static inline void copy_piece(void *to, const void *from, int64_t bytes, bool streaming)
{
    if (streaming)
        copy_streaming(to, from, (size_t)bytes);
    else if (bytes > 0)
        memcpy(to, from, (size_t)bytes);
}

#endif
