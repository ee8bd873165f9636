#include "progress.h"

#include <dlfcn.h>
#include <stddef.h>

static int (*registered)(void);

/* Open MPI 4.1 and 5.0: int (int (*)(void)), in opal/runtime/opal_progress.h. */
static int tell(const char *name, int (*move)(void))
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    int (*call)(int (*)(void));
    *(void **)&call = symbol;
    return symbol != NULL ? call(move) : -1;
}

bool progress_is_there(void)
{
    return dlsym(RTLD_DEFAULT, "opal_progress_register") != NULL &&
           dlsym(RTLD_DEFAULT, "opal_progress_unregister") != NULL;
}

void progress_begin(int (*move)(void))
{
    if (registered == NULL && tell("opal_progress_register", move) == 0)
        registered = move;
}

void progress_end(void)
{
    if (registered != NULL)
        tell("opal_progress_unregister", registered);
    registered = NULL;
}
