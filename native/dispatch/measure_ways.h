/* How pieces go through cells on this machine (node/cell_ways.h): measured, as it differs between processors, and on a virtual
 * machine from hour to hour. */
#ifndef UNISONO_MEASURE_WAYS_H
#define UNISONO_MEASURE_WAYS_H

#include <stdbool.h>

struct coll_comm;

/* Collective over MPI_COMM_WORLD, before anything is served: some milliseconds; of long pieces alone where ranks share CPUs, and of
 * none where their waits for one another take longer. The same is found on all ranks; where nothing can be measured, all is as before. */
void measure_ways(void);

/* MPI_COMM_WORLD with all that it is served with, where ranks have a CPU each; else NULL. The same on all ranks. */
struct coll_comm *measure_world(void);

/* A line on standard error for each size that was measured. */
void measure_ways_print(void);

#endif
