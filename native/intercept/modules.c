#include "modules.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

struct module {
    char path[PATH_MAX];
    uint64_t start; /* of the mapping of the file's beginning */
    uint64_t end;   /* of its last mapping */
    bool readable;
    bool code; /* one of its mappings is executable */
};

static uint64_t hex(const char **at)
{
    uint64_t value = 0;
    for (;; ++*at) {
        char c = **at;
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return value;
        value = value << 4 | (uint64_t)digit;
    }
}

/* The difference between addresses in memory and in the file; the beginning of the file is mapped at `start`. */
static uint64_t load_bias(uint64_t start)
{
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(uintptr_t)start;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_type != ET_DYN)
        return 0;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(uintptr_t)(start + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            return start + segments[i].p_offset - segments[i].p_vaddr;
    return start;
}

static void finish(struct bytes *bytes, struct module *module)
{
    if (module->code && module->readable) {
        if (bytes->at[bytes->used - 1] != '[')
            bytes_text(bytes, ",");
        bytes_text(bytes, "{\"path\":");
        bytes_quoted(bytes, module->path);
        bytes_text(bytes, ",\"base\":");
        bytes_number(bytes, (int64_t)load_bias(module->start));
        bytes_text(bytes, ",\"end\":");
        bytes_number(bytes, (int64_t)module->end);
        bytes_text(bytes, "}");
    }
    module->path[0] = '\0';
}

/* "start-end perms offset device inode   path" */
static void take(struct bytes *bytes, struct module *module, const char *line)
{
    const char *at = line;
    uint64_t start = hex(&at);
    at += *at == '-';
    uint64_t end = hex(&at);
    if (strlen(at) < 6)
        return;
    const char *permissions = ++at;
    at = permissions + 5;
    uint64_t offset = hex(&at);
    const char *path = strchr(at, '/');
    if (path == NULL)
        return;
    if (offset == 0 && (strcmp(path, module->path) != 0 || start != module->end)) {
        finish(bytes, module);
        *module = (struct module){.start = start, .readable = permissions[0] == 'r'};
        strncpy(module->path, path, sizeof module->path - 1);
    }
    if (strcmp(path, module->path) == 0) {
        module->end = end;
        module->code |= permissions[2] == 'x';
    }
}

void modules_write(struct bytes *bytes)
{
    static char text[2 * PATH_MAX];
    static struct module module;
    size_t used = 0;
    module.path[0] = '\0';
    bytes_text(bytes, "[");
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (file >= 0 && bytes->at != NULL) {
        ssize_t got = read(file, text + used, sizeof text - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
        text[used] = '\0';
        char *line = text, *end;
        while ((end = strchr(line, '\n')) != NULL) {
            *end = '\0';
            take(bytes, &module, line);
            line = end + 1;
        }
        used -= (size_t)(line - text);
        memmove(text, line, used);
    }
    if (file >= 0) {
        finish(bytes, &module);
        close(file);
    }
    bytes_text(bytes, "]");
}
