/* What the simulator keeps of short messages that have left their senders. */
#ifndef UNISONO_SIMULATE_CAUGHT_H
#define UNISONO_SIMULATE_CAUGHT_H

/* Waits until all that the calling rank has sent has arrived. */
void caught_end(void);

#endif
