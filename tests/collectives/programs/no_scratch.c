/* Preloaded: rank 1 gets no large memory for the library, and says "refused" when it asked for some. NO_SCRATCH_FROM: bytes from
 * which on memory is large, which a program may say too while it runs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LARGE = 1000000 };

extern void *__libc_memalign(size_t, size_t);
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);

static size_t large = LARGE;

void no_scratch_from(size_t bytes)
{
    large = bytes;
}

__attribute__((constructor)) static void ask(void)
{
    const char *from = getenv("NO_SCRATCH_FROM");
    if (from != NULL)
        large = strtoul(from, NULL, 10);
}

static int refuses(size_t bytes, const void *caller)
{
    static int said;
    Dl_info from;
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    rank = rank != NULL ? rank : getenv("PMI_RANK");
    if (bytes < large || rank == NULL || strcmp(rank, "1") != 0 || dladdr(caller, &from) == 0 ||
        strstr(from.dli_fname, "libunisono") == NULL)
        return 0;
    if (!said++)
        fputs("refused\n", stderr);
    errno = ENOMEM;
    return 1;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return refuses(bytes, __builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

void *malloc(size_t bytes)
{
    return refuses(bytes, __builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t size)
{
    return refuses(count * size, __builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (file < 0 && refuses(bytes, __builtin_return_address(0)))
        return MAP_FAILED;
    long memory = syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
    return (void *)memory;
}
