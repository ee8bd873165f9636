/* What we do by ourselves on a communicator of the program's: what fails then must not meet the program's error handler, and is none
 * of the program's calls. */
#ifndef UNISONO_ASIDE_H
#define UNISONO_ASIDE_H

#include <mpi.h>
#include <stdbool.h>

struct aside {
    MPI_Errhandler theirs;
    bool before;
};

void aside_step(MPI_Comm comm, struct aside *aside);
void aside_back(MPI_Comm comm, struct aside *aside);

#endif
