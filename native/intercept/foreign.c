#include "foreign.h"

#ifndef UNISONO_STATIC
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agree.h"
#include "life.h"
#include "preload.h"
#include "tools.h"

/* The library of the MPI standard's own binary interface (MPI 5.0, chapter 20), in which handles have one form for all MPIs. */
static const char standard[] = "libmpi_abi.so";

enum { BAD_ENVIRONMENT = 2, VERSION_MOST = 16384 /* of whichever MPI: MPICH's text may have 8192 bytes */ };

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Whether this library was linked with one of that name. */
static bool is_needed(const char *name)
{
    struct link_map *own = NULL;
    Dl_info found;
    const char *strings = NULL;
    if (dladdr1(standard, &found, (void **)&own, RTLD_DL_LINKMAP) == 0 || own == NULL)
        return true;
    for (const ElfW(Dyn) *entry = own->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr;
    for (const ElfW(Dyn) *entry = own->l_ld; strings != NULL && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && strcmp(strings + entry->d_un.d_val, name) == 0)
            return true;
    return strings == NULL;
}

/* The one that calls go to; "" where that is as it should be. Libraries of another name are of the same MPI where they say so:
 * all that are made from MPICH go together (libmpich.so.12, libmpi.so.12). */
static const char *foreign_name(void)
{
    const void *real = tools_find_real(F_Init);
    Dl_info found;
    if (dladdr(real, &found) == 0 || found.dli_fname == NULL)
        return "";
    const char *name = base_of(found.dli_fname);
    if (is_needed(name))
        return "";
    if (strncmp(name, standard, sizeof standard - 1) == 0)
        return found.dli_fname;
    int (*version)(char *, int *) = NULL;
    static char text[VERSION_MOST];
    int length = 0;
    *(void **)&version = dlsym(RTLD_NEXT, "PMPI_Get_library_version");
    if (version == NULL || version(text, &length) != MPI_SUCCESS)
        return "";
#ifdef OPEN_MPI
    const bool same = strncmp(text, "Open MPI", 8) == 0;
#else
    const bool same = strncmp(text, "Open MPI", 8) != 0;
#endif
    return same ? "" : found.dli_fname;
}

/* The standard's library may have been loaded so that only the program finds it. */
static int look_for_standard(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size;
    const char *name = base_of(info->dlpi_name);
    if (strncmp(name, standard, sizeof standard - 1) != 0 || is_needed(name))
        return 0;
    *(const char **)argument = info->dlpi_name;
    return 1;
}

static void say(const char *name, const char *what)
{
    if (life_is_first_rank())
        fprintf(stderr, "unisono: the program's MPI is %s, this library was built for another; %s\n", name, what);
}

/* Before the program begins it can still run without us: it is started once more. */
__attribute__((constructor)) static void start_without(int count, char **arguments)
{
    const char *name = count > 0 ? foreign_name() : "";
    if (name[0] == '\0')
        return;
    if (agree_is_required()) {
        say(name, "UNISONO_REQUIRED=1 ends the program");
        _exit(BAD_ENVIRONMENT);
    }
    if (preload_forget()) {
        say(name, "it runs without");
        execve("/proc/self/exe", arguments, environ);
    }
    say(name, "leave it out of LD_PRELOAD");
    _exit(BAD_ENVIRONMENT);
}

void foreign_refuse(void)
{
    const char *name = foreign_name();
    if (name[0] == '\0')
        dl_iterate_phdr(look_for_standard, &name);
    if (name[0] == '\0')
        return;
    say(name, "leave it out of LD_PRELOAD");
    _exit(BAD_ENVIRONMENT);
}

#else

void foreign_refuse(void)
{
}

#endif
