/* Latency and bandwidth for the cost model, where no rules bring them. */
#ifndef UNISONO_MEASURE_COSTS_H
#define UNISONO_MEASURE_COSTS_H

#include "collectives.h"

/* Collective over MPI_COMM_WORLD, some hundred microseconds: rank 0's costs, on all ranks. False when its communicator
 * cannot be equipped. */
bool measure_costs(struct costs *costs);

#endif
