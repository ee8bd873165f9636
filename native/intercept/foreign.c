#include "foreign.h"

#ifndef UNISONO_STATIC
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

/* This library as it was loaded; NULL: not known. */
static struct link_map *own_map(void)
{
    struct link_map *own = NULL;
    Dl_info found;
    return dladdr1(standard, &found, (void **)&own, RTLD_DL_LINKMAP) != 0 ? own : NULL;
}

/* Whether it was linked with one of that name. */
static bool needs(const struct link_map *map, const char *name)
{
    const char *strings = NULL;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB) /* the kernel's own is not relocated */
            strings = (const char *)(entry->d_un.d_ptr < map->l_addr ? map->l_addr : 0) + entry->d_un.d_ptr;
    for (const ElfW(Dyn) *entry = map->l_ld; strings != NULL && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && strcmp(strings + entry->d_un.d_val, name) == 0)
            return true;
    return false;
}

static bool is_needed(const char *name)
{
    const struct link_map *own = own_map();
    return own == NULL || needs(own, name);
}

/* What the library of this handle says that it is; "": nothing. */
static const char *version_of(void *handle)
{
    int (*version)(char *, int *) = NULL;
    static char text[VERSION_MOST];
    int length = 0;
    *(void **)&version = dlsym(handle, "PMPI_Get_library_version");
    return version != NULL && version(text, &length) == MPI_SUCCESS ? text : "";
}

/* Whether it says that it is an earlier Open MPI than this library was built for, which lacks functions of the later one. Open MPI 4.1 and
 * 5.0 have the same name (libmpi.so.40), and the later one serves what was built for the earlier. */
static bool is_earlier(void *handle)
{
#ifdef OPEN_MPI
    const char before[] = "Open MPI v", *text = version_of(handle);
    return strncmp(text, before, sizeof before - 1) == 0 &&
           strtol(text + sizeof before - 1, NULL, 10) < OMPI_MAJOR_VERSION;
#else
    (void)handle;
    return false;
#endif
}

/* Whether it says that it is another MPI than this library was built for. All that are made from MPICH go together (libmpich.so.12,
 * libmpi.so.12). */
static bool is_other(void *handle)
{
    const char *text = version_of(handle);
    if (text[0] == '\0')
        return false;
#ifdef OPEN_MPI
    return strncmp(text, "Open MPI", 8) != 0;
#else
    return strncmp(text, "Open MPI", 8) == 0;
#endif
}

/* The one that calls go to; "" where that is as it should be. Libraries of another name are of the same MPI where they say so. */
static const char *foreign_name(void)
{
    const void *real = tools_find_real(F_Init);
    Dl_info found;
    if (dladdr(real, &found) == 0 || found.dli_fname == NULL)
        return "";
    const char *name = base_of(found.dli_fname);
    if (is_needed(name))
        return is_earlier(RTLD_NEXT) ? found.dli_fname : "";
    if (strncmp(name, standard, sizeof standard - 1) == 0)
        return found.dli_fname;
    return is_other(RTLD_NEXT) ? found.dli_fname : "";
}

static bool is_mpi(const char *name)
{
    return strncmp(name, "libmpi", strlen("libmpi")) == 0;
}

/* Whether the program, or anything that it has loaded, is linked with the one that this library has brought along. */
static bool is_wanted(const struct link_map *first, const struct link_map *own, const char *name)
{
    for (const struct link_map *map = first; map != NULL; map = map->l_next)
        if (map != own && !is_mpi(base_of(map->l_name)) && needs(map, name))
            return true;
    return false;
}

/* One that was loaded so that only what needs it finds it, as by an extension of Python; "": none. */
static const char *hidden_name(void)
{
    const struct link_map *own = own_map(), *first = own;
    while (first != NULL && first->l_prev != NULL)
        first = first->l_prev;
    for (const struct link_map *map = first; map != NULL; map = map->l_next)
        if (is_mpi(base_of(map->l_name)) && is_needed(base_of(map->l_name)) &&
            is_wanted(first, own, base_of(map->l_name)))
            return "";
    for (const struct link_map *map = first; map != NULL; map = map->l_next) {
        const char *name = base_of(map->l_name);
        if (!is_mpi(name) || is_needed(name))
            continue;
        if (strncmp(name, standard, sizeof standard - 1) == 0)
            return map->l_name;
        void *handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
        const bool other = handle != NULL && is_other(handle);
        if (handle != NULL)
            dlclose(handle); /* whoever loaded it keeps it */
        if (other)
            return map->l_name;
    }
    return "";
}

/* What the process was started with, `given` to the program but for the words that ld.so has taken for itself, where it was started
 * with the program's name. */
static char **all_words(char **given)
{
    enum { STEP = 4096 };
    char *text = NULL, **words = NULL;
    size_t length = 0, got = 0, count = 0;
    FILE *file = fopen("/proc/self/cmdline", "re");
    do {
        length += got;
        char *more = file != NULL ? realloc(text, length + STEP) : NULL;
        text = more != NULL ? more : text;
        got = more != NULL ? fread(text + length, 1, STEP, file) : 0;
    } while (got > 0);
    if (file != NULL)
        fclose(file);
    if (length > 0 && text[length - 1] == '\0' && (words = calloc(length + 1, sizeof *words)) != NULL)
        for (size_t i = 0; i < length; i += strlen(text + i) + 1)
            words[count++] = text + i;
    return words != NULL ? words : given;
}

static void say(const char *name, const char *what)
{
    if (life_is_first_rank())
        fprintf(stderr, "unisono: the program's MPI is %s, this library was built for another; %s\n", name, what);
}

/* With the status of a bad environment. A launcher that is still starting ranks when one of them ends may die of it, and the line
 * with it: Hydra 4.0.2 did in 7 of 300 launches beside other load, of a program without this library, and in none of 200
 * whose ranks ended a tenth of a second later. */
static void end(void)
{
    const struct timespec started = {.tv_nsec = 100 * 1000 * 1000};
    nanosleep(&started, NULL);
    _exit(BAD_ENVIRONMENT);
}

/* Before the program begins it can still run without us: it is started once more. */
__attribute__((constructor)) static void start_without(int count, char **arguments)
{
    const char *name = count > 0 ? foreign_name() : "";
    if (name[0] == '\0')
        return;
    if (agree_is_required()) {
        say(name, "UNISONO_REQUIRED=1 ends the program");
        end();
    }
    if (preload_forget()) {
        say(name, "it runs without");
        execve("/proc/self/exe", all_words(arguments), environ);
    }
    say(name, "leave it out of LD_PRELOAD");
    end();
}

void foreign_refuse(void)
{
    const char *name = foreign_name();
    if (name[0] == '\0')
        name = hidden_name();
    if (name[0] == '\0')
        return;
    say(name, "leave it out of LD_PRELOAD");
    end();
}

#else

void foreign_refuse(void)
{
}

#endif
