/* Variables that the MPI library reads in every call, as MPICH does its algorithms' (MPI_T): on this rank they hold
   while a setting runs, and are put back afterwards. */
#ifndef UNISONO_HELD_H
#define UNISONO_HELD_H

#include <mpi.h>
#include <stdbool.h>

#include "problem.h"

/* Writes "NAME=VALUE NAME=VALUE ..." and reads it back; NULL: nothing. False where a variable is not there, cannot be
   written, or reads back another value: what runs now must not be taken for the setting. held_end() in any case. */
bool held_begin(const char *words, struct problem *problem);
bool held_end(struct problem *problem);

/* From now on an error on this communicator is kept instead of ending the program. */
void held_watch(MPI_Comm comm);

/* Whether there was one since the last time; its text. */
bool held_failed(struct problem *problem);

#endif
