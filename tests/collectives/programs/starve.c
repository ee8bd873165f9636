/* From when the program says so, the library gets no zeroed memory any more: for starved.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

int starving;
long refused;

extern void *__libc_calloc(size_t, size_t);

void *calloc(size_t count, size_t size)
{
    Dl_info where;
    if (starving && dladdr(__builtin_return_address(0), &where) != 0 && where.dli_fname != NULL &&
        strstr(where.dli_fname, "libunisono") != NULL) {
        refused++;
        return NULL;
    }
    return __libc_calloc(count, size);
}
