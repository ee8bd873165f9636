/* One call of any collective that our library can serve. */
#ifndef UNISONO_PROBE_CALL_H
#define UNISONO_PROBE_CALL_H

#include <mpi.h>

enum { UNKNOWN = -1 }; /* a collective that is none here */

/* What a call sends and receives, of any collective. */
struct buffers {
    char *out, *in;
    int *counts, *offsets;
    MPI_Aint *far;
    MPI_Datatype *types;
};

/* Counts of a whole vector of so many bytes; the first ranks have one more of what cannot be divided. */
const int *divided(int bytes, const struct buffers *b, MPI_Comm comm);

/* A persistent one ("allreduce_init") and one of neighbours ("allgather_init"): made, started, waited for and freed. The MPI error code,
 * or UNKNOWN, also where the MPI has none. */
int start(const char *collective, int bytes, const struct buffers *b, MPI_Comm comm);
int start_near(const char *how, int bytes, const struct buffers *b, MPI_Comm line);

/* `bytes` as IMB counts them; the MPI error code, or UNKNOWN. One that does not block is waited for. */
int call_once(const char *collective, int bytes, MPI_Comm comm);

#endif
