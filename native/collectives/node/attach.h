/* Memory of other processes of the machine, attached to this one's own (XPMEM): moved by loads and stores, with no system call once a
 * page of it has been touched. pull.h goes on by system calls where it is not.
 *
 * Where the MPI library does so itself for long messages (attached.h), or UNISONO_XPMEM=1 asks for it, and never with UNISONO_XPMEM=0. What a
 * system call would refuse (a file that was cut short, a process that is gone) ends a program with a signal where it is attached, as it does
 * then in the MPI library too; nothing is attached where processes may fail and others go on. Memory of a device does not come here
 * (dispatch/device.h).
 *
 * Pages that were touched stay pinned until the owner unmaps them, or changes what they may be used for, until another window takes the place
 * (1,024 of 4 MiB at most, far below vm.max_map_count), or until MPI_Finalize. A limit of addresses (RLIMIT_AS) counts windows as the program's
 * own memory, so nothing is attached under one. Forked children have no windows.
 *
 * Whether it works is found by really reading and writing, also memory that was unmapped and mapped anew since it was attached: its
 * kernel module must have taken away what was there before.
 *
 * Hjelm, Linux cross-memory attach (2014) for Open MPI; Katevenis et al., XHC (2022), for what attached memory gives collectives. */
#ifndef UNISONO_NODE_ATTACH_H
#define UNISONO_NODE_ATTACH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Collective over `near`, all ranks of the world on this machine, whose processes are these by their ranks there: whether it works
 * between all of them, and is wanted. Why it does not where it was asked for is said by the world's first rank. */
bool attach_start(MPI_Comm near, const int *process);
void attach_end(void);
bool attach_works(void);

/* Bytes, from the first on; the rest is not attached. Several threads may move at once. */
int64_t attach_read(int process, uint64_t remote, char *to, int64_t bytes);
int64_t attach_write(int process, uint64_t remote, const char *from, int64_t bytes);

#endif
