/* Copying and combining under the simulator: they take simulated time, and real data only where results are looked at. */
#ifndef UNISONO_SIMULATED_COPY_H
#define UNISONO_SIMULATED_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "collectives.h"

/* `rate`: bytes a second that one process copies; 0: at no cost. Without data, only small pieces are really copied. */
void simulated_copy_set(double rate, bool data);
/* Memory that all ranks have in common where data do not matter. */
void *simulated_copy_room(size_t bytes);
void simulated_copy_free(void *room);
/* In place of reduction->combine, at three times the cost of a copy of half the bytes. */
void simulated_copy_combine(const struct reduction *reduction, const void *left, const void *right, void *result,
                            int64_t count);
/* Takes so much of this rank's simulated time. */
void simulated_copy_spend(double seconds);
/* What this rank has copied and not been charged for yet, in seconds; it is forgotten. */
double simulated_copy_owed(void);

#endif
