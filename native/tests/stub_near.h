/* Neighbours as chance has them, any rank of any other or of itself, and the call of a rank with blocks for them of as many numbers. */
#ifndef UNISONO_STUB_NEAR_H
#define UNISONO_STUB_NEAR_H

#include "collectives.h"

enum { NEAR_MOST = 16 };

struct stub_near {
    struct neighbours around;
    int target[NEAR_MOST], source[NEAR_MOST];
    int64_t send_bytes[NEAR_MOST], send_at[NEAR_MOST], receive_bytes[NEAR_MOST], receive_at[NEAR_MOST];
};

static inline bool stub_near_has(uint32_t key, int from, int to)
{
    uint32_t x = (key + 1) * 2654435761u ^ (uint32_t)(from * NEAR_MOST + to) * 2246822519u;
    x = (x ^ x >> 15) * 3266489917u;
    return (x ^ x >> 13) % 3 != 0;
}

/* Which block of the sender's is this receiver's. */
static inline int stub_near_block(uint32_t key, int from, int to)
{
    int before = 0;
    for (int i = 0; i < to; i++)
        before += stub_near_has(key, from, i);
    return before;
}

/* Of call->count numbers of 4 bytes in each block; nobody is between the neighbours. `near` must live as long as the call. */
static inline void stub_near_set(struct stub_near *near, struct call *call, uint32_t key, int rank, int ranks)
{
    int out = 0, in = 0;
    for (int i = 0; i < ranks; i++) {
        if (stub_near_has(key, rank, i)) {
            near->send_bytes[out] = 4 * call->count, near->send_at[out] = out * 4 * call->count;
            near->target[out++] = i;
        }
        if (stub_near_has(key, i, rank)) {
            near->receive_bytes[in] = 4 * call->count, near->receive_at[in] = in * 4 * call->count;
            near->source[in++] = i;
        } else if (in + 1 < ranks && i % 3 == 0) {
            near->receive_bytes[in] = 0, near->receive_at[in] = in * 4 * call->count;
            near->source[in++] = -1;
        }
    }
    near->around = (struct neighbours){.targets = out, .sources = in, .target = near->target, .source = near->source};
    call->around = &near->around;
    call->most = ranks;
    call->piece = 4 * call->count;
    call->bytes = 0;
    call->send_bytes = near->send_bytes, call->send_at = near->send_at;
    call->receive_bytes = near->receive_bytes, call->receive_at = near->receive_at;
}

#endif
