/* One call of any collective that our library can serve. */
#ifndef UNISONO_PROBE_CALL_H
#define UNISONO_PROBE_CALL_H

#include <mpi.h>

enum { UNKNOWN = -1 }; /* a collective that is none here */

/* `bytes` as IMB counts them; the MPI error code, or UNKNOWN. One that does not block is waited for. */
int call_once(const char *collective, int bytes, MPI_Comm comm);

#endif
