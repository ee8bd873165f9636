#include "fortran.h"

#include "dispatch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANGLINGS = 4 };

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

/* What another tool behind us defines; it goes on by itself. */
static void *find_tool(const char *called, const void *real)
{
    Dl_info theirs, mpi;
    void *found = dlsym(RTLD_NEXT, called);
    bool other = found != NULL && real != NULL && dladdr(found, &theirs) != 0 && dladdr(real, &mpi) != 0 &&
                 theirs.dli_fbase != mpi.dli_fbase;
    return other ? found : NULL;
}

void *fortran_symbol(const char *called, const char *name, const char *other, const void *caller)
{
    void *found = find(name, caller);
    if (found == NULL)
        found = find(other, caller);
    void *tool = called != NULL && dispatch_below ? find_tool(called, found) : NULL;
    if (tool != NULL)
        return tool;
    if (found == NULL) {
        fprintf(stderr, "unisono: %s was called, but no MPI library that is loaded has it\n", name);
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

static pthread_once_t sentinels = PTHREAD_ONCE_INIT;

#ifdef OPEN_MPI
/* Each library that defines them has the four manglings as variables of its own. */
static struct {
    const char *names[MANGLINGS];
    const void *at[MANGLINGS];
} in_place = {.names = {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
                        "MPI_FORTRAN_IN_PLACE"}},
  bottom = {.names = {"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"}},
  status_ignore = {.names = {"mpi_fortran_status_ignore_", "mpi_fortran_status_ignore", "mpi_fortran_status_ignore__",
                             "MPI_FORTRAN_STATUS_IGNORE"}},
  statuses_ignore = {.names = {"mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore",
                               "mpi_fortran_statuses_ignore__", "MPI_FORTRAN_STATUSES_IGNORE"}};

static void find_sentinels(void)
{
    for (int i = 0; i < MANGLINGS; i++) {
        in_place.at[i] = variable(in_place.names[i]);
        bottom.at[i] = variable(bottom.names[i]);
        status_ignore.at[i] = variable(status_ignore.names[i]);
        statuses_ignore.at[i] = variable(statuses_ignore.names[i]);
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

bool fortran_is_bottom(const void *buffer)
{
    pthread_once(&sentinels, find_sentinels);
    bool is = false;
    for (int i = 0; i < MANGLINGS; i++)
        is |= buffer == bottom.at[i];
    return is && buffer != NULL;
}

bool fortran_is_status_ignore(const void *status)
{
    pthread_once(&sentinels, find_sentinels);
    bool is = false;
    for (int i = 0; i < MANGLINGS; i++)
        is |= status == status_ignore.at[i] || status == statuses_ignore.at[i];
    return is || status == NULL;
}
#else
/* Of `use mpi_f08`; the other bindings of MPICH and Intel MPI arrive in C. */
static const void *status_ignore, *statuses_ignore;

static void find_sentinels(void)
{
    status_ignore = variable("MPIR_F08_MPI_STATUS_IGNORE_OBJ");
    statuses_ignore = variable("MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
}

bool fortran_is_status_ignore(const void *status)
{
    pthread_once(&sentinels, find_sentinels);
    return status == NULL || status == status_ignore || status == statuses_ignore;
}
#endif
