/* From MPI_Init to MPI_Finalize in Fortran. */
#include "fortran.h"
#include "intercept.h"
#include "life.h"

/* Each is defined twice: `BEGIN`, `REAL` are those of Open MPI's function or of the symbol of `use mpi_f08`. */
#define INIT(BEGIN, REAL_OF)                                                                                           \
    BEGIN(init, (MPI_Fint * error))                                                                                    \
    {                                                                                                                  \
        REAL_OF(init, (MPI_Fint *));                                                                                   \
        uint64_t before = life_before_init();                                                                          \
        real(error);                                                                                                   \
        if (!fortran_failed(error) && !dispatch_below) /* else it comes by PMPI_Init */                                \
            life_after_init(before);                                                                                   \
    }
#define INIT_THREAD(BEGIN, REAL_OF)                                                                                    \
    BEGIN(init_thread, (MPI_Fint * required, MPI_Fint * provided, MPI_Fint * error))                                   \
    {                                                                                                                  \
        REAL_OF(init_thread, (MPI_Fint *, MPI_Fint *, MPI_Fint *));                                                    \
        uint64_t before = life_before_init();                                                                          \
        real(required, provided, error);                                                                               \
        if (!fortran_failed(error) && !dispatch_below) /* else it comes by PMPI_Init */                                \
            life_after_init(before);                                                                                   \
    }
#define FINALIZE(BEGIN, REAL_OF)                                                                                       \
    BEGIN(finalize, (MPI_Fint * error))                                                                                \
    {                                                                                                                  \
        REAL_OF(finalize, (MPI_Fint *));                                                                               \
        if (!dispatch_below)                                                                                           \
            life_before_finalize();                                                                                    \
        real(error);                                                                                                   \
    }
#define ABORT(BEGIN, REAL_OF)                                                                                          \
    BEGIN(abort, (MPI_Fint * comm, MPI_Fint * status, MPI_Fint * error))                                               \
    {                                                                                                                  \
        REAL_OF(abort, (MPI_Fint *, MPI_Fint *, MPI_Fint *));                                                          \
        if (!dispatch_below)                                                                                           \
            life_before_abort();                                                                                       \
        real(comm, status, error);                                                                                     \
    }
/* Has no further arguments in Fortran. */
#define PCONTROL(BEGIN)                                                                                                \
    BEGIN(pcontrol, (MPI_Fint * level))                                                                                \
    {                                                                                                                  \
        void *const none[3] = {NULL};                                                                                  \
        life_pcontrol_all((int)*level, none);                                                                          \
    }

#ifdef OPEN_MPI
INIT(FORTRAN_BEGIN, FORTRAN_REAL)
INIT_THREAD(FORTRAN_BEGIN, FORTRAN_REAL)
FINALIZE(FORTRAN_BEGIN, FORTRAN_REAL)
ABORT(FORTRAN_BEGIN, FORTRAN_REAL)
PCONTROL(FORTRAN_BEGIN)
FORTRAN_SYMBOLS(init, INIT, (MPI_Fint *));
FORTRAN_SYMBOLS(init_thread, INIT_THREAD, (MPI_Fint *, MPI_Fint *, MPI_Fint *));
FORTRAN_SYMBOLS(finalize, FINALIZE, (MPI_Fint *));
FORTRAN_SYMBOLS(abort, ABORT, (MPI_Fint *, MPI_Fint *, MPI_Fint *));
FORTRAN_SYMBOLS(pcontrol, PCONTROL, (MPI_Fint *));
#endif
INIT(FORTRAN_08_BEGIN, FORTRAN_08_REAL)
INIT_THREAD(FORTRAN_08_BEGIN, FORTRAN_08_REAL)
FINALIZE(FORTRAN_08_BEGIN, FORTRAN_08_REAL)
ABORT(FORTRAN_08_BEGIN, FORTRAN_08_REAL)
PCONTROL(FORTRAN_08_BEGIN)
