/* Single copy: reading and writing the memory of another rank of the node (process_vm_readv, process_vm_writev), with
 * no segment in between.
 *
 * Whether the system permits it is found by really reading and writing, once for all ranks of the machine, at the start.
 * Where permission is lost later the other rank does it (handed.h). MPI error codes: where it is gone, a call says MPI_ERR_OTHER
 * and what was to be filled holds anything. The other rank may not free or change what it offered until it is told that all is done.
 *
 * Where Yama lets only parents read a process's memory, a rank permits it to all when it offers memory for the first time,
 * and not before. */
#ifndef UNISONO_NODE_PULL_H
#define UNISONO_NODE_PULL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct costs;

struct pull {
    bool works; /* the same on all ranks of the node */
    int local;
    struct failure *failure; /* of others: they may have left */
    const int *process;      /* by local number: its process, as this one calls it */
};

/* Collective over `near`, all ranks of the world on this machine. No failure: it works between all of them, or between
 * none. MPI error code. */
int pull_start(MPI_Comm near);
void pull_end(void);

/* Whether it works on this machine. */
bool pull_possible(void);

/* How many times as long as a copy of its own memory a rank takes to read as much of another's, long blocks; measured at the start, the
 * same on all ranks of the machine. 0: it does not work. */
double pull_slower(void);
/* Seconds until a rank has read a few bytes of another's memory; measured likewise. 0: it does not work. */
double pull_call(void);
/* Sets what costs say of it, by these and by node_byte; where it does not work, or what was measured is not to be heeded, as it is
 * another number in each run, to what would be usual. */
void pull_costs(struct costs *costs);
void pull_heed_measured(bool heed);

/* The process of a rank of MPI_COMM_WORLD that is on this machine; 0: it is not. */
int pull_process(int world_rank);

/* `remote` is an address in the memory of local number `local`, which may be this rank itself. */
int pull_read(const struct pull *pull, int local, uint64_t remote, void *to, int64_t bytes);
int pull_write(const struct pull *pull, int local, uint64_t remote, const void *from, int64_t bytes);

extern bool pull_must_permit;
void pull_permit(void);
/* As it was before pull_permit(): after what the program did not ask for, and when nobody reads any more. */
void pull_withdraw(void);

/* For publishing the address of memory that is offered. */
static inline uint64_t pull_address(const void *memory)
{
    if (__builtin_expect(pull_must_permit, false))
        pull_permit();
    return (uint64_t)(uintptr_t)memory;
}

#endif
