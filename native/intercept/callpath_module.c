#include "callpath_module.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Of an object's frames; `own`: this code lies in it. The program itself has no name here: linked into it, this
 * library's frames cannot be told from the program's. */
static bool left_out(const char *path, bool own)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return (own && *name != '\0') || strncmp(name, "libmpi", 6) == 0;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE

/* Takes no lock: a signal handler may have interrupted whoever holds the dynamic linker's. */
bool callpath_is_left_out(uintptr_t pc)
{
    struct dl_find_object object, ours;
    if (_dl_find_object((void *)pc, &object) != 0)
        return false;
    const bool own = _dl_find_object((void *)&left_out, &ours) == 0 && ours.dlfo_link_map == object.dlfo_link_map;
    return left_out(object.dlfo_link_map->l_name, own);
}

#else /* glibc before 2.35, where the compiler's unwinder takes the lock as well */

struct search {
    uintptr_t pc;
    bool left_out;
};

static bool holds(const struct dl_phdr_info *object, uintptr_t address)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && address - (object->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return true;
    }
    return false;
}

static int look(struct dl_phdr_info *object, size_t size, void *argument)
{
    (void)size;
    struct search *search = argument;
    if (!holds(object, search->pc))
        return 0;
    search->left_out = left_out(object->dlpi_name, holds(object, (uintptr_t)&look));
    return 1;
}

bool callpath_is_left_out(uintptr_t pc)
{
    struct search search = {.pc = pc};
    dl_iterate_phdr(look, &search);
    return search.left_out;
}

#endif

/* The kernel puts no other mapping nearer below the main stack, whatever its limit. */
static const uintptr_t stack_most = (uintptr_t)128 << 20;

static uintptr_t hex(const char **at)
{
    uintptr_t value = 0;
    for (;; ++*at) {
        const char c = **at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return value;
    }
}

/* "start-end perms offset device inode   name" */
static bool line_holds(const char *line, uintptr_t address, uintptr_t *low, uintptr_t *high)
{
    const char *at = line;
    const uintptr_t start = hex(&at);
    if (*at++ != '-')
        return false;
    const uintptr_t end = hex(&at);
    if (address < start || address >= end)
        return false;
    *low = strstr(at, "[stack]") != NULL && end > stack_most ? end - stack_most : start;
    *high = end;
    return true;
}

void callpath_mapping(uintptr_t address, uintptr_t *low, uintptr_t *high)
{
    char text[4096 + 1];
    size_t used = 0;
    *low = 0;
    *high = UINTPTR_MAX;
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    for (bool found = false; !found;) {
        const ssize_t got = read(file, text + used, sizeof text - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
        text[used] = '\0';
        char *line = text, *end;
        while (!found && (end = strchr(line, '\n')) != NULL) {
            *end = '\0';
            found = line_holds(line, address, low, high);
            line = end + 1;
        }
        used -= (size_t)(line - text);
        memmove(text, line, used);
        if (used == sizeof text - 1) /* a name longer than any path: its beginning is enough */
            used = 64;
    }
    close(file);
}
