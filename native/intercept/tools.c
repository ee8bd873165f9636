#include "tools.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"

enum { NAME_BYTES = 64 };

void *tools_next[TOOLS_FUNCTIONS];
void *tools_real[TOOLS_FUNCTIONS];
unsigned char tools_behind;

const char *tools_taker(void)
{
    Dl_info where;
    void *taker = tools_next[F_Init] != NULL ? tools_next[F_Init] : dlsym(RTLD_DEFAULT, "MPI_Init");
    return taker != NULL && dladdr(taker, &where) != 0 && where.dli_fname[0] != '\0' ? where.dli_fname : "the program";
}

#ifndef UNISONO_STATIC /* what is linked finds its way by the linker */
static const char *const others[] = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Pcontrol"};

static const char *name_of(int function)
{
    return function < FUNCTIONS ? function_names[function] : others[function - FUNCTIONS];
}

/* Where an object's code and data lie. */
struct object {
    uintptr_t inside, low, high;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct object *object = argument;
    uintptr_t low = UINTPTR_MAX, high = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = (uintptr_t)info->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD)
            continue;
        low = start < low ? start : low;
        high = start + part->p_memsz > high ? start + part->p_memsz : high;
    }
    if (object->inside < low || object->inside >= high)
        return 0;
    object->low = low, object->high = high;
    return 1;
}

static struct object object_of(const void *address)
{
    struct object object = {.inside = (uintptr_t)address};
    dl_iterate_phdr(look_at, &object);
    return object;
}

static bool is_in(const struct object *object, const void *address)
{
    return (uintptr_t)address >= object->low && (uintptr_t)address < object->high;
}

static void missing(void)
{
    fprintf(stderr, "unisono: a function of MPI was called that the MPI library that is loaded does not have\n");
    abort();
}

void *tools_find_real(int function)
{
    char profiled[NAME_BYTES];
    snprintf(profiled, sizeof profiled, "P%s", name_of(function));
    void *real = dlsym(RTLD_NEXT, profiled);
    if (real == NULL)
        *(void (**)(void))&real = missing;
    __atomic_store_n(&tools_real[function], real, __ATOMIC_RELAXED);
    return real;
}

/* When the library is loaded: who else takes the program's calls. */
__attribute__((constructor)) static void find_tools(void)
{
    dispatch_all_complete = true;
    struct object ours = object_of(tools_next), mpi = object_of(tools_find_real(F_Init));
    for (int f = F_NONE + 1; f < TOOLS_FUNCTIONS; f++) {
        const char *name = name_of(f);
        if (name == NULL)
            continue;
        void *first = dlsym(RTLD_DEFAULT, name), *next = dlsym(RTLD_NEXT, name);
        if (next != NULL && !is_in(&mpi, next)) {
            tools_next[f] = next;
            tools_behind = true;
        }
        if (tools_behind || (first != NULL && !is_in(&ours, first) && !is_in(&mpi, first)))
            dispatch_below = true;
    }
}
#endif
