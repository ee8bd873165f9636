/* What the generated wrappers are made of. */
#ifndef UNISONO_INTERCEPT_H
#define UNISONO_INTERCEPT_H

#include "kinds.h"

#define SYMBOL __attribute__((visibility("default")))

/* Where a call goes on to: the one place at which a layer between the program and the MPI library can take it over. */
#define REAL(function) PMPI_##function

#endif
