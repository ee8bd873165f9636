#include "pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, HUGE_PAGE = 2 << 20 };

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit) / unit * unit; /* always some more: kernels read past the end of a block */
}

void *pages_take(size_t bytes)
{
    if (bytes < 2 * HUGE_PAGE)
        return aligned_alloc(LINE, round_up(bytes, LINE));
    const size_t all = round_up(bytes, HUGE_PAGE);
    void *memory = aligned_alloc(HUGE_PAGE, all);
    if (memory != NULL)
        madvise(memory, all, MADV_HUGEPAGE); /* a wish: what becomes of it changes nothing but the speed */
    return memory;
}
