/* From MPI_Init to MPI_Finalize. */
#ifndef UNISONO_LIFE_H
#define UNISONO_LIFE_H

#include <mpi.h>
#include <stdint.h>

/* What the C and the Fortran symbols do around the real calls. */
uint64_t life_before_init(void);
void life_after_init(uint64_t before);
void life_before_finalize(void);
void life_before_abort(void);
void life_pcontrol(int level, const char *name);

#endif
