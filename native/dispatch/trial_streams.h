/* From how many bytes on what one rank receives goes past the caches (node/copy.h), where that depends on the processor. */
#ifndef UNISONO_TRIAL_STREAMS_H
#define UNISONO_TRIAL_STREAMS_H

#include "collectives.h"

enum trial_streams { STREAMS_UNKNOWN, STREAMS_EARLY, STREAMS_LATE, STREAMS };

/* An allgather whose vectors take one and a half times the last cache, both ways. Collective over the ranks of one node; the same on all
 * of them. STREAMS_UNKNOWN where one of them has no memory for it. */
enum trial_streams trial_streams(struct coll_comm *world);

#endif
