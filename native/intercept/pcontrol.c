/* MPI_Pcontrol, whose further arguments are each tool's own. */
#include <stdarg.h>

#include "intercept.h"
#include "life.h"

enum { FURTHER = 3 }; /* arguments that are handed to a tool behind us */

static _Thread_local bool handed_on __attribute__((tls_model("initial-exec"))); /* heard of already */

int life_pcontrol_all(int level, void *const *further)
{
    life_pcontrol(level, further[0]);
    if (tools_next[F_Pcontrol] == NULL)
        return MPI_SUCCESS;
    int (*next)(int, ...);
    *(void **)&next = tools_next[F_Pcontrol];
    handed_on = true;
    int status = next(level, further[0], further[1], further[2]);
    handed_on = false;
    return status;
}

SYMBOL int MPI_Pcontrol(const int level, ...)
{
    void *further[FURTHER] = {NULL};
    va_list rest;
    va_start(rest, level);
    for (int i = 0; i < FURTHER && (level >= PCONTROL_PHASE || tools_behind); i++)
        further[i] = va_arg(rest, void *);
    va_end(rest);
    return life_pcontrol_all(level, further);
}

#ifndef UNISONO_STATIC
/* From a tool before us; one behind us has it from above. */
SYMBOL int PMPI_Pcontrol(const int level, ...)
{
    const char *name = NULL;
    if (level >= PCONTROL_PHASE) {
        va_list rest;
        va_start(rest, level);
        name = va_arg(rest, const char *);
        va_end(rest);
    }
    if (dispatch_below && !handed_on)
        life_pcontrol(level, name);
    return MPI_SUCCESS;
}
#endif
