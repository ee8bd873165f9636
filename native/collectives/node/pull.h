/* Single copy: reading and writing the memory of another rank of the node (process_vm_readv, process_vm_writev), with
 * no segment in between.
 *
 * Whether the system permits it is found by really reading and writing, once, and agreed.
 * MPI error codes: where permission is lost later, or the other rank is gone, a call says MPI_ERR_OTHER and what was to
 * be filled holds anything. The other rank may not free or change what it offered until it is told that all is done. */
#ifndef UNISONO_NODE_PULL_H
#define UNISONO_NODE_PULL_H

#include <stdbool.h>
#include <stdint.h>

#include "../collectives.h"

struct pull {
    bool works;    /* the same on all ranks of the communicator */
    int local;
    struct failure *failure; /* of others: they may have left */
    int *process;  /* by local number: its process, as this one calls it; NULL where it does not work */
};

/* Collective over all ranks of the communicator, whose private communicator is used. `offer` is what this rank alone
 * thinks: false where it must not be used. No failure: it works everywhere, or nowhere. */
void pull_create(struct pull *pull, const struct coll_comm *comm, bool offer);
void pull_free(struct pull *pull);

/* `remote` is an address in the memory of local number `local`, which may be this rank itself. */
int pull_read(const struct pull *pull, int local, uint64_t remote, void *to, int64_t bytes);
int pull_write(const struct pull *pull, int local, uint64_t remote, const void *from, int64_t bytes);

/* For publishing an address. */
static inline uint64_t pull_address(const void *memory)
{
    return (uint64_t)(uintptr_t)memory;
}

#endif
