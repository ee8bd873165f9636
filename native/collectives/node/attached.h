/* Whether the MPI library of this program attaches memory of other ranks itself (XPMEM), for long messages of one machine.
 *
 * It is seen, not asked. Who has /dev/xpmem open need not use it: UCX opens it in every process that looks for transports, also with an UCX_TLS
 * that has no XPMEM; libfabric whenever it starts; Open MPI 4 (btl/vader) and 5 (smsc/xpmem) where the component is allowed, also if messages
 * then go another way. So where all ranks have it open each sends the next one a long message, and looks whether its own mappings have become
 * more by what is attached: such a mapping is shared, and no file's (xpmem_mmap() of XPMEM's kernel module takes it away), as hardly any
 * other. Who detaches at once what it has copied is taken for one that attaches nothing. */
#ifndef UNISONO_NODE_ATTACHED_H
#define UNISONO_NODE_ATTACHED_H

#include <mpi.h>
#include <stdbool.h>

/* Collective over `near`, all ranks of the world on this machine, each of which may say no. */
bool attached_by_mpi(MPI_Comm near, bool mine);

#endif
