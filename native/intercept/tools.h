/* Other tools between the program and its MPI: objects that define MPI_X and call PMPI_X, before this library or behind it.
 *
 * A call of the program goes on to the tool behind us, if there is one that takes it. Whatever tools there are, before or
 * behind, end in PMPI_X, which is this library's too: there it records and serves (here_X). So all see the call, once.
 * Without another tool MPI_X does all that, and PMPI_X is only passed through. Our own calls go to the MPI library's
 * PMPI_X at once: the linker makes __wrap_PMPI_X of them (below.c, generated). */
#ifndef UNISONO_TOOLS_H
#define UNISONO_TOOLS_H

#include <stdbool.h>

#include "functions.h"

/* Those that are no rows of the table. */
enum { F_Init = FUNCTIONS, F_Init_thread, F_Finalize, F_Abort, F_Pcontrol, TOOLS_FUNCTIONS };

extern void *tools_next[TOOLS_FUNCTIONS]; /* MPI_X of a tool behind us; NULL: none */
extern void *tools_real[TOOLS_FUNCTIONS]; /* PMPI_X of the MPI library; NULL: not yet found */
extern unsigned char tools_behind;        /* tools_next has any */

/* PMPI_X of the MPI library. */
void *tools_find_real(int function);

static inline void *tools_real_of(int function)
{
    void *real = __atomic_load_n(&tools_real[function], __ATOMIC_RELAXED);
    return __builtin_expect(real != 0, true) ? real : tools_find_real(function);
}

/* The object of another tool that takes MPI_Init, for a sentence: behind us, else before us. */
const char *tools_taker(void);

#endif
