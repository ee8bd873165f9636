/* The Fortran bindings: what the generated wrappers are made of.
 *
 * Open MPI's call the PMPI_ functions in C, so the C symbols never see a Fortran program. Every mangling of a name is one
 * function there (ompi_x_f), which is also what most of `use mpi_f08` ends in. MPICH's and Intel MPI's bindings call the
 * MPI_ functions in C, but for those of `use mpi_f08` without a buffer. So ompi_x_f and mpi_x_f08_ are taken.
 * Arguments go on as they came; handles are only converted to find out how much a call moved. */
#ifndef UNISONO_FORTRAN_H
#define UNISONO_FORTRAN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Begin the definition of Open MPI's function, and of the symbol of `use mpi_f08`. */
#define FORTRAN_BEGIN(lower, parameters)                                                                               \
    extern void pmpi_##lower##_ parameters;                                                                            \
    SYMBOL void ompi_##lower##_f parameters

#ifdef OPEN_MPI
#define FORTRAN_08_PROFILED(lower) pmpi_##lower##_f08_
#else
#define FORTRAN_08_PROFILED(lower) pmpir_##lower##_f08_
#endif
#define FORTRAN_08_BEGIN(lower, parameters)                                                                            \
    extern void FORTRAN_08_PROFILED(lower) parameters;                                                                 \
    SYMBOL void mpi_##lower##_f08_ parameters;                                                                         \
    void mpi_##lower##_f08_ parameters

/* Other names of the first. Not the bare lower case one, which libraries in C use for functions of their own. */
#define FORTRAN_SYMBOLS(lower, UPPER, parameters)                                                                      \
    SYMBOL void mpi_##lower##_ parameters __attribute__((alias("ompi_" #lower "_f")));                                 \
    SYMBOL void mpi_##lower##__ parameters __attribute__((alias("ompi_" #lower "_f")));                                \
    SYMBOL void MPI_##UPPER parameters __attribute__((alias("ompi_" #lower "_f")))

/* Declares `real`, the same function in the MPI library, or in a tool behind us. In the archive that is a symbol which
 * the linker finds; in the shared library it is looked for at the first call, and the program ends if the MPI library does
 * not have what the caller was linked with. */
#ifdef UNISONO_STATIC
#define FORTRAN_REAL(lower, parameters) void(*real) parameters = pmpi_##lower##_
#define FORTRAN_08_REAL(lower, parameters) void(*real) parameters = FORTRAN_08_PROFILED(lower)
#else
#define FORTRAN_LOOK(called, name, other, parameters)                                                                  \
    static void(*found) parameters;                                                                                    \
    void(*real) parameters = __atomic_load_n(&found, __ATOMIC_RELAXED);                                                \
    if (__builtin_expect(real == NULL, false)) {                                                                       \
        *(void **)&real = fortran_symbol(called, name, other, __builtin_return_address(0));                            \
        __atomic_store_n(&found, real, __ATOMIC_RELAXED);                                                              \
    }
#define FORTRAN_REAL(lower, parameters)                                                                                \
    FORTRAN_LOOK("mpi_" #lower "_", "pmpi_" #lower "_", "ompi_" #lower "_f", parameters)
#define FORTRAN_08_REAL(lower, parameters) FORTRAN_LOOK(NULL, "mpi_" #lower "_f08_", "mpi_" #lower "_f08", parameters)
#endif
void *fortran_symbol(const char *called, const char *name, const char *other, const void *caller);

/* MPI_IN_PLACE, MPI_BOTTOM, MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE have addresses of their own in Fortran. The first two
 * with Open MPI only: of buffers MPICH's and Intel MPI's bindings speak in C. */
bool fortran_is_in_place(const void *buffer);
bool fortran_is_bottom(const void *buffer);
bool fortran_is_status_ignore(const void *status);

/* Some rules are macros that leave arguments out. */
#define UNUSED __attribute__((unused))

static inline void *fortran_buffer(void *buffer)
{
    return fortran_is_in_place(buffer) ? MPI_IN_PLACE : fortran_is_bottom(buffer) ? MPI_BOTTOM : buffer;
}

static inline MPI_Fint fortran_int(const void *argument)
{
    return *(const MPI_Fint *)argument;
}

/* The error is optional in `use mpi_f08`. */
static inline bool fortran_failed(const void *error)
{
    return error != NULL && fortran_int(error) != MPI_SUCCESS;
}

/* Room for a Fortran status of any MPI. */
enum { FORTRAN_STATUS = 16 };
_Static_assert(sizeof(MPI_Status) <= FORTRAN_STATUS * sizeof(MPI_Fint), "a status fits");
_Static_assert(sizeof(MPI_Fint) == sizeof(int), "arrays of counts are read as they are");

#endif
