/* dlclose of the whole program passes here: addresses of the closed object may soon belong to another. */
#include <dlfcn.h>
#include <stddef.h>

#include "callpath.h"

__attribute__((visibility("default"))) int dlclose(void *handle)
{
    static int (*next)(void *);
    int (*real)(void *) = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "dlclose");
        __atomic_store_n(&next, real, __ATOMIC_RELAXED);
    }
    /* Before: another thread may open something there as soon as it is closed. After: its destructors may call MPI. */
    unisono_callpath_forget();
    int status = real(handle);
    unisono_callpath_forget();
    return status;
}
