/* Memory that the simulated ranks of a node share, and their waiting for one another's stores: in place of node/segment.c
 * and node/wait.c, so that the node's phases are the very sources that run on a real one. */
#ifndef UNISONO_SIMULATE_MEMORY_H
#define UNISONO_SIMULATE_MEMORY_H

/* `seconds` until what a rank stores is seen by one that waits for it; 0: nodes share no memory, and their phases go by
 * messages. What has been stored before one looks is seen at once. */
void memory_set(double seconds);

#endif
