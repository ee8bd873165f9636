#include "fortran.h"

#ifdef OPEN_MPI
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "intercept.h"
#include "life.h"

enum { MANGLINGS = 4 };

/* Each library that defines them has the four manglings as variables of its own. */
static struct {
    const char *names[MANGLINGS];
    const void *at[MANGLINGS];
} in_place = {.names = {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
                        "MPI_FORTRAN_IN_PLACE"}},
  status_ignore = {.names = {"mpi_fortran_status_ignore_", "mpi_fortran_status_ignore", "mpi_fortran_status_ignore__",
                             "MPI_FORTRAN_STATUS_IGNORE"}};
static pthread_once_t sentinels = PTHREAD_ONCE_INIT;
static void *bindings; /* the object that brought the Fortran bindings, where they are not in the global scope */

/* The bindings may have come with a module that was opened for itself (Python does that): then they are among what the
 * caller was linked with. */
static void *find(const char *name, const void *caller)
{
    Dl_info where;
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL && dladdr(caller, &where) != 0) {
        void *object = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        if (object != NULL) {
            found = dlsym(object, name);
            __atomic_store_n(&bindings, object, __ATOMIC_RELAXED);
        }
    }
    return found;
}

void *fortran_symbol(const char *name, const char *other, const void *caller)
{
    void *found = find(name, caller);
    if (found == NULL)
        found = find(other, caller);
    if (found == NULL) {
        fprintf(stderr, "unisono: %s was called, but no MPI library that is loaded has it\n", name + 1);
        abort();
    }
    return found;
}

static const void *variable(const char *name)
{
    const void *found = dlsym(RTLD_DEFAULT, name);
    void *object = __atomic_load_n(&bindings, __ATOMIC_RELAXED);
    return found == NULL && object != NULL ? dlsym(object, name) : found;
}

static void find_sentinels(void)
{
    for (int i = 0; i < MANGLINGS; i++) {
        in_place.at[i] = variable(in_place.names[i]);
        status_ignore.at[i] = variable(status_ignore.names[i]);
    }
}

bool fortran_is_in_place(const void *buffer)
{
    pthread_once(&sentinels, find_sentinels);
    bool is = false;
    for (int i = 0; i < MANGLINGS; i++)
        is |= buffer == in_place.at[i];
    return is && buffer != NULL;
}

bool fortran_is_status_ignore(const void *status)
{
    pthread_once(&sentinels, find_sentinels);
    bool is = false;
    for (int i = 0; i < MANGLINGS; i++)
        is |= status == status_ignore.at[i];
    return is || status == NULL;
}

#ifdef UNISONO_STATIC
extern void pmpi_init_(MPI_Fint *);
extern void pmpi_init_thread_(MPI_Fint *, MPI_Fint *, MPI_Fint *);
extern void pmpi_finalize_(MPI_Fint *);
extern void pmpi_abort_(MPI_Fint *, MPI_Fint *, MPI_Fint *);
#endif

SYMBOL void ompi_init_f(MPI_Fint *error)
{
    void (*real)(MPI_Fint *);
    FORTRAN_FIND(real, init, __builtin_return_address(0));
    uint64_t before = life_before_init();
    real(error);
    if (!fortran_failed(error))
        life_after_init(before);
}
FORTRAN_SYMBOLS(init, INIT, (MPI_Fint *));

SYMBOL void ompi_init_thread_f(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *error)
{
    void (*real)(MPI_Fint *, MPI_Fint *, MPI_Fint *);
    FORTRAN_FIND(real, init_thread, __builtin_return_address(0));
    uint64_t before = life_before_init();
    real(required, provided, error);
    if (!fortran_failed(error))
        life_after_init(before);
}
FORTRAN_SYMBOLS(init_thread, INIT_THREAD, (MPI_Fint *, MPI_Fint *, MPI_Fint *));

SYMBOL void ompi_finalize_f(MPI_Fint *error)
{
    void (*real)(MPI_Fint *);
    FORTRAN_FIND(real, finalize, __builtin_return_address(0));
    life_before_finalize();
    real(error);
}
FORTRAN_SYMBOLS(finalize, FINALIZE, (MPI_Fint *));

SYMBOL void ompi_abort_f(MPI_Fint *comm, MPI_Fint *status, MPI_Fint *error)
{
    void (*real)(MPI_Fint *, MPI_Fint *, MPI_Fint *);
    FORTRAN_FIND(real, abort, __builtin_return_address(0));
    life_before_abort();
    real(comm, status, error);
}
FORTRAN_SYMBOLS(abort, ABORT, (MPI_Fint *, MPI_Fint *, MPI_Fint *));

/* Has no further arguments, and no error either in mpif.h of some versions. */
SYMBOL void ompi_pcontrol_f(MPI_Fint *level)
{
    life_pcontrol((int)*level, NULL);
}
FORTRAN_SYMBOLS(pcontrol, PCONTROL, (MPI_Fint *));
#endif
