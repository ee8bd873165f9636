/* How long the program waits for its nonblocking and persistent collectives: the time of calls that complete requests goes
 * to the calls that began what they wait for, or made its request.
 *
 * Such a call's time is divided equally among the requests that it completed, or, if it completed none (MPI_Test and its
 * like), among all that it was given. The parts of nonblocking collectives are counted with the calls that began them,
 * and once more with the completing call, as time of it that is theirs: so no second is counted twice. The parts of all
 * other requests stay with the completing call alone. */
#ifndef UNISONO_COMPLETION_H
#define UNISONO_COMPLETION_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "functions.h"
#include "pending.h"
#include "ticks.h"

/* At MPI_Init. */
void completion_start(bool shared);

/* Whether any nonblocking collective is under way. */
static inline bool completion_open(void)
{
    return __builtin_expect(__atomic_load_n(&pending_count, __ATOMIC_RELAXED) > 0, false);
}

uint16_t completion_take(int count, const void *requests, bool fortran);
void completion_divide(uint16_t awaited, const void *requests, bool fortran, int done, uint64_t ticks, uint32_t cell);
void completion_return(uint16_t awaited, const void *requests, bool fortran);

/* Before a call that completes requests; `requests` as the language has them. The first of the nonblocking collectives among
 * them, which it takes out of the table (pending.h); PENDING_NONE: there is none. */
static inline uint16_t completion_look(int count, const void *requests, bool fortran)
{
    return completion_open() ? completion_take(count, requests, fortran) : (uint16_t)PENDING_NONE;
}

/* A request is being freed, whosoever it is. */
static inline void completion_forget(MPI_Request handle)
{
    uint16_t list = PENDING_NONE;
    if (completion_open() && pending_take(handle, 0, &list))
        pending_free(list);
}

/* After it. `done`: so many requests are complete by it (0 and less: none); `cell` of the thread's table is where the call
 * is counted. */
static inline void completion_seen(uint16_t awaited, const void *requests, bool fortran, int done, uint64_t ticks,
                                   uint32_t cell)
{
    if (__builtin_expect(awaited != PENDING_NONE, false))
        completion_divide(awaited, requests, fortran, done, ticks, cell);
}

/* After it, where it is not counted, or has failed: what is complete is forgotten. */
static inline void completion_unseen(uint16_t awaited, const void *requests, bool fortran)
{
    if (__builtin_expect(awaited != PENDING_NONE, false))
        completion_return(awaited, requests, fortran);
}

#endif
