/* Included before every source of the simulated collectives: what one rank stores for others to wait for wakes them. */
#ifndef UNISONO_SIMULATE_STORES_H
#define UNISONO_SIMULATE_STORES_H

#include <stdatomic.h>

/* The calling rank has stored; those of its node that wait may look again. */
void memory_stored(void);

#undef atomic_store_explicit
#define atomic_store_explicit(object, value, order) (*(object) = (value), (void)(order), memory_stored())

#endif
