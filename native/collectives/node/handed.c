#include "handed.h"

#include <sched.h>
#include <string.h>

#include "../failure.h"
#include "wait.h"

enum { NOTHING, ASKED, ANSWERED };

void handed_serve(const struct failure *failure)
{
    struct handed *own = failure != NULL && failure->presence != NULL ? failure_handed(failure, failure->local) : NULL;
    if (own == NULL || atomic_load_explicit(&own->asked, memory_order_acquire) == 0)
        return;
    for (int local = 0; local < failure->locals; local++) {
        struct handed *other = failure_handed(failure, local);
        if (atomic_load_explicit(&other->state, memory_order_acquire) != ASKED || other->of != failure->local)
            continue;
        void *here = (void *)(uintptr_t)other->at;
        if (other->writes)
            memcpy(here, other->data, (size_t)other->bytes);
        else
            memcpy(other->data, here, (size_t)other->bytes);
        atomic_fetch_sub_explicit(&own->asked, 1, memory_order_relaxed);
        atomic_store_explicit(&other->state, ANSWERED, memory_order_release);
    }
}

/* Whoever waits does what it is asked for itself: the other one may be waiting for just that. */
static bool is_answered(struct failure *failure, struct handed *own)
{
    const int spins = 64;
    for (int turn = 0; atomic_load_explicit(&own->state, memory_order_acquire) != ANSWERED;
         turn = (turn + 1) & 0xffff) {
        handed_serve(failure);
        if (turn < spins) {
            cpu_pause();
            continue;
        }
        failure_look(failure, turn == spins);
        if (failure_known(failure))
            return false;
        sched_yield();
    }
    return true;
}

static bool ask(struct failure *failure, int local, uint64_t remote, int bytes, bool writes)
{
    struct handed *own = failure_handed(failure, failure->local);
    own->of = local, own->at = remote, own->bytes = bytes, own->writes = writes;
    atomic_store_explicit(&own->state, ASKED, memory_order_release);
    atomic_fetch_add_explicit(&failure_handed(failure, local)->asked, 1, memory_order_release);
    const bool answered = is_answered(failure, own);
    atomic_store_explicit(&own->state, NOTHING, memory_order_relaxed);
    return answered;
}

static int piece_of(int64_t bytes)
{
    return bytes < HANDED_BYTES ? (int)bytes : HANDED_BYTES;
}

static bool is_possible(const struct failure *failure)
{
    return failure != NULL && failure->presence != NULL && !failure_known(failure);
}

bool handed_read(struct failure *failure, int local, uint64_t remote, char *to, int64_t bytes)
{
    bool good = is_possible(failure);
    for (int64_t at = 0; at < bytes && good; at += HANDED_BYTES) {
        const int piece = piece_of(bytes - at);
        good = ask(failure, local, remote + (uint64_t)at, piece, false);
        if (good)
            memcpy(to + at, failure_handed(failure, failure->local)->data, (size_t)piece);
    }
    return good;
}

bool handed_write(struct failure *failure, int local, uint64_t remote, const char *from, int64_t bytes)
{
    bool good = is_possible(failure);
    for (int64_t at = 0; at < bytes && good; at += HANDED_BYTES) {
        const int piece = piece_of(bytes - at);
        memcpy(failure_handed(failure, failure->local)->data, from + at, (size_t)piece);
        good = ask(failure, local, remote + (uint64_t)at, piece, true);
    }
    return good;
}
