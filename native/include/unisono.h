/* What a program may tell Unisono's profiler, and what it may ask of Unisono's collectives. Without it (libunisono.so
 * neither preloaded nor linked) these do not exist:
 * link with -lunisono, or use MPI_Pcontrol, which every MPI has:
 *
 *     MPI_Pcontrol(0)          stop recording           MPI_Pcontrol(3, "name")  = unisono_phase_begin("name")
 *     MPI_Pcontrol(1)          record again             MPI_Pcontrol(3, "")      = unisono_phase_end()
 *     MPI_Pcontrol(2)          forget what was recorded
 *
 * Fortran: call unisono_phase_begin('name') and call unisono_phase_end(). */
#ifndef UNISONO_H
#define UNISONO_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls from here to the matching end belong to the phase `name` (at most 63 bytes of it count). Phases nest: the innermost
 * counts. They are the process's, not the thread's. */
void unisono_phase_begin(const char *name);
void unisono_phase_end(void);

/* From now on this communicator's calls of a collective ("allreduce") are served by this implementation, as the rules file
 * writes it ("unisono/slices:16384", "tuned/ring", "han", "mpi"), and by the MPI library where it does not apply; "" takes
 * that back. 0, or 1 on all ranks: there is no such collective or implementation, or it can serve nothing on this
 * communicator; then all is as before.
 *
 * A persistent collective goes by what holds while its request is made: by what was asked for "allreduce_init", or where
 * that is nothing, for "iallreduce".
 *
 * Collective over `comm`, with the same words on all ranks. The first such call of a run must be over all ranks of
 * MPI_COMM_WORLD, unless UNISONO_RULES, UNISONO_FORCE or UNISONO_COLLECTIVES is set. */
int unisono_use(MPI_Comm comm, const char *collective, const char *implementation);

/* 1 if a message of so many bytes (as IMB counts them) would be served by something else than the MPI library untouched;
 * `element`: bytes of an element, of reductions. Collective over `comm`, the same answer on all ranks. */
int unisono_applies(MPI_Comm comm, const char *collective, long long bytes, int element);

/* 1: until it is 0 again, every call is the MPI library's and passes by as if unisono_use() had never been called, which is
 * how a benchmark times the MPI library beside it. On all ranks between the same two calls, and not while a nonblocking one
 * is under way. It changes nothing where variables or rules of the run say what serves. */
void unisono_rest(int rests);

/* One of our algorithms. */
struct unisono_algorithm {
    const char *collective, *name; /* "allreduce", "slices" */
    const char *meaning, *reference;
    long long segment; /* bytes, when none is asked for; 0: it has none */
    int applies;       /* whether it can serve some size on the communicator */
};

/* Number `index`, from 0. Collective over `comm`. 0, or 1: there are no more. */
int unisono_algorithm(MPI_Comm comm, int index, struct unisono_algorithm *answer);

#ifdef __cplusplus
}
#endif

#endif
