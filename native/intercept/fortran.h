/* Open MPI's Fortran bindings: what the generated wrappers are made of.
 *
 * They call the PMPI_ functions in C, so the C symbols never see a Fortran program. Every mangling of a name is one
 * function there (ompi_x_f), which is also what `use mpi_f08` ends in. Arguments go on as they came; handles are only
 * converted to find out how much a call moved. MPICH's and Intel MPI's bindings call the MPI_ functions in C and need
 * nothing here. */
#ifndef UNISONO_FORTRAN_H
#define UNISONO_FORTRAN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* The symbols of one function. Not the bare lower case name, which libraries in C use for functions of their own. */
#define FORTRAN_SYMBOLS(lower, UPPER, parameters)                                                                      \
    SYMBOL void mpi_##lower##_ parameters __attribute__((alias("ompi_" #lower "_f")));                                 \
    SYMBOL void mpi_##lower##__ parameters __attribute__((alias("ompi_" #lower "_f")));                                \
    SYMBOL void MPI_##UPPER parameters __attribute__((alias("ompi_" #lower "_f")))

/* The same function in the MPI library; `caller` is an address in the code that called. In the archive it is a symbol
 * that the linker finds, in the shared library one that is looked for at the first call. Ends the program if the MPI
 * library does not have what the caller was linked with. */
#ifdef UNISONO_STATIC
#define FORTRAN_FIND(real, lower, caller) ((real) = pmpi_##lower##_)
#else
#define FORTRAN_FIND(real, lower, caller)                                                                              \
    (*(void **)&(real) = fortran_symbol("pmpi_" #lower "_", "ompi_" #lower "_f", caller))
#endif
void *fortran_symbol(const char *name, const char *other, const void *caller);

/* MPI_IN_PLACE and MPI_STATUS_IGNORE have addresses of their own in Fortran. */
bool fortran_is_in_place(const void *buffer);
bool fortran_is_status_ignore(const void *status);

/* Some rules are macros that leave arguments out. */
#define UNUSED __attribute__((unused))

static inline const void *fortran_buffer(const void *buffer)
{
    return fortran_is_in_place(buffer) ? MPI_IN_PLACE : buffer;
}

static inline MPI_Fint fortran_int(const void *argument)
{
    return *(const MPI_Fint *)argument;
}

static inline bool fortran_failed(const void *error)
{
    return error != NULL && fortran_int(error) != MPI_SUCCESS;
}

/* Room for a Fortran status of any MPI. */
enum { FORTRAN_STATUS = 16 };
_Static_assert(sizeof(MPI_Status) <= FORTRAN_STATUS * sizeof(MPI_Fint), "a status fits");
_Static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of counts are read as they are");

#endif
