/* What messages between two nodes reach at best. The network is only reached through MPI: this is MPI's own figure. */
#ifndef UNISONO_LINK_H
#define UNISONO_LINK_H

#include "team.h"
#include "text.h"

/* Collective; needs two nodes. Appends `,"link":{...}` on rank 0: one-way latency, what one short message more takes, and rates up to `most` bytes of one
   pair of ranks of the first two nodes and of as many pairs as both nodes have, all sending both ways. */
void link_measure(struct team *team, struct text *text, char *out, char *in, size_t most);

#endif
