#include "callpath_module.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

struct search {
    uintptr_t pc;
    bool own, left_out;
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
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash != NULL ? slash + 1 : object->dlpi_name;
    /* The program itself has no name here. Linked into it, this library's frames cannot be told from the program's. */
    search->own = *name != '\0' && holds(object, (uintptr_t)&look);
    search->left_out = search->own || strncmp(name, "libmpi", 6) == 0;
    return 1;
}

bool callpath_is_left_out(uintptr_t pc)
{
    struct search search = {.pc = pc};
    dl_iterate_phdr(look, &search);
    return search.left_out;
}
