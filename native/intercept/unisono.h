/* What a program may tell Unisono's profiler. Without it (libunisono.so neither preloaded nor linked) these do not exist:
 * link with -lunisono, or use MPI_Pcontrol, which every MPI has:
 *
 *     MPI_Pcontrol(0)          stop recording           MPI_Pcontrol(3, "name")  = unisono_phase_begin("name")
 *     MPI_Pcontrol(1)          record again             MPI_Pcontrol(3, "")      = unisono_phase_end()
 *     MPI_Pcontrol(2)          forget what was recorded
 *
 * Fortran: call unisono_phase_begin('name') and call unisono_phase_end(). */
#ifndef UNISONO_H
#define UNISONO_H

#ifdef __cplusplus
extern "C" {
#endif

/* Calls from here to the matching end belong to the phase `name` (at most 63 bytes of it count). Phases nest: the innermost
 * counts. They are the process's, not the thread's. */
void unisono_phase_begin(const char *name);
void unisono_phase_end(void);

#ifdef __cplusplus
}
#endif

#endif
