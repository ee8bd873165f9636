#include "scratch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collectives.h"

struct scratch {
    void *memory[SCRATCHES];
    int64_t bytes[SCRATCHES];
    bool grown; /* since the last call */
};

/* Of all communicators of this process, so that large messages one after the other find it: as much as the pieces of a
   reduction take. More is given back after the call. */
static const int64_t kept_most = INT64_C(18) << 20;
static _Atomic int64_t kept;

/* From here on memory is the system's own: what is given back is gone at once, whatever malloc() would keep. */
static const int64_t own_pages_from = 128 << 10;

struct scratch *scratch_new(void)
{
    return calloc(1, sizeof(struct scratch));
}

static void give_back(struct scratch *scratch, int which)
{
    if (scratch->bytes[which] < own_pages_from)
        free(scratch->memory[which]);
    else
        munmap(scratch->memory[which], (size_t)scratch->bytes[which]);
    kept -= scratch->bytes[which];
    scratch->memory[which] = NULL;
    scratch->bytes[which] = 0;
}

static void *pages_of(int64_t bytes)
{
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

bool coll_scratch_would(int64_t bytes)
{
    void *memory = pages_of(bytes);
    return memory != NULL && munmap(memory, (size_t)bytes) == 0;
}

void *coll_scratch(struct coll_comm *comm, int which, int64_t bytes)
{
    struct scratch *scratch = comm->scratch;
    if (bytes <= scratch->bytes[which])
        return scratch->memory[which];
    int64_t page = sysconf(_SC_PAGESIZE), rounded = (bytes + page - 1) / page * page;
    give_back(scratch, which);
    void *memory = rounded < own_pages_from ? aligned_alloc((size_t)page, (size_t)rounded) : pages_of(rounded);
    if (memory == NULL)
        return NULL;
    scratch->memory[which] = memory;
    scratch->bytes[which] = rounded;
    scratch->grown = true;
    kept += rounded;
    return memory;
}

void coll_scratch_trim(struct coll_comm *comm)
{
    struct scratch *scratch = comm->scratch;
    if (__builtin_expect(!scratch->grown, true))
        return;
    scratch->grown = false;
    for (int i = 0; i < SCRATCHES && kept > kept_most; i++)
        give_back(scratch, i);
}

void scratch_free(struct scratch *scratch)
{
    for (int i = 0; i < SCRATCHES; i++)
        give_back(scratch, i);
    free(scratch);
}
