/* Where the ranks are: CPUs, NUMA nodes, oversubscription, caches; and the greeting that tells the driver. */
#ifndef UNISONO_WHERE_H
#define UNISONO_WHERE_H

#include "bench.h"

/* Collective. Fills cpus, oversubscribed and cache_share. */
bool where_find(struct bench *bench, struct problem *problem);

/* Collective. Rank 0 says hello. */
bool where_hello(struct bench *bench, struct problem *problem);

#endif
