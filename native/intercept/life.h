/* From MPI_Init to MPI_Finalize. */
#ifndef UNISONO_LIFE_H
#define UNISONO_LIFE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Levels of MPI_Pcontrol. */
enum { PCONTROL_OFF, PCONTROL_ON, PCONTROL_RESET, PCONTROL_PHASE };

/* What the C and the Fortran symbols do around the real calls. */
uint64_t life_before_init(void);
void life_after_init(uint64_t before);
void life_before_finalize(void);
void life_before_abort(void);
void life_pcontrol(int level, const char *name);
/* The same, then what a tool behind us does with it. */
int life_pcontrol_all(int level, void *const *further);

/* Whether the environment names this process the first rank, or none. */
bool life_is_first_rank(void);

/* MPI_X of these, where no other tool takes them. */
int here_Init(int *argc, char ***argv);
int here_Init_thread(int *argc, char ***argv, int required, int *provided);
int here_Finalize(void);
int here_Abort(MPI_Comm comm, int status);

#endif
