#include "message.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { SLOTS = 1 << 14, KNOWN_MOST = 1024, UNTIMED = MESSAGES_MOST, NONE = MESSAGES_MOST + 1 };

struct messages messages;

/* Requests that are not complete, by open addressing; a removed one is closed up. */
static struct {
    MPI_Request handle;
    uint32_t entry; /* in the log + 1; 0: an empty slot */
} slots[SLOTS];
static uint32_t used;

/* Communicators whose members all know them by the same number. */
static struct {
    uint64_t serial, id;
} known[KNOWN_MOST];
static uint32_t known_count;
static struct {
    uint64_t members;
    uint32_t made;
} seen[KNOWN_MOST];
static uint32_t seen_count;
static uint32_t waited[MESSAGES_WAITED];

static uint64_t mix(uint64_t word)
{
    word = (word ^ (word >> 31)) * UINT64_C(0x9e3779b97f4a7c15);
    return word ^ (word >> 29);
}

void message_start(void)
{
    messages.log = mmap(NULL, MESSAGES_MOST * sizeof *messages.log, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (messages.log == MAP_FAILED)
        messages.log = NULL;
    messages.open = messages.log != NULL;
    if (messages.open)
        message_made(MPI_COMM_WORLD);
}

void message_reset(void)
{
    message_close();
    messages.count = 0;
}

/* The members in their order, and how many communicators of just these came before: the same on all of them, since they
 * make them together. */
void message_made(MPI_Comm comm)
{
    const struct group *group = comm_group(comm);
    if (!messages.open || group->inter || known_count == KNOWN_MOST)
        return;
    uint64_t members = 1;
    for (int rank = 0; rank < group->size; rank++)
        members = mix(members + (uint64_t)(uint32_t)comm_world_rank(group, comm, rank));
    uint32_t at = 0;
    while (at < seen_count && seen[at].members != members)
        at++;
    if (at == KNOWN_MOST)
        return;
    if (at == seen_count)
        seen[seen_count++].members = members;
    known[known_count].serial = group->serial;
    known[known_count++].id = mix(members + ++seen[at].made);
}

static uint64_t id_of(const struct group *group)
{
    for (uint32_t i = 0; i < known_count; i++)
        if (known[i].serial == group->serial)
            return known[i].id;
    return 0;
}

static uint32_t home(MPI_Request handle)
{
    return (uint32_t)(mix((uint64_t)(uintptr_t)handle)) & (SLOTS - 1);
}

static uint32_t slot_of(MPI_Request handle)
{
    uint32_t i = home(handle);
    while (slots[i].entry != 0 && slots[i].handle != handle)
        i = (i + 1) & (SLOTS - 1);
    return i;
}

static void forget(MPI_Request handle)
{
    uint32_t hole = slot_of(handle);
    if (slots[hole].entry == 0)
        return;
    used--;
    for (uint32_t i = (hole + 1) & (SLOTS - 1); slots[i].entry != 0; i = (i + 1) & (SLOTS - 1)) {
        if (((i - home(slots[i].handle)) & (SLOTS - 1)) >= ((i - hole) & (SLOTS - 1))) {
            slots[hole] = slots[i];
            hole = i;
        }
    }
    slots[hole].entry = 0;
}

void message_add(uint32_t kind, const struct group *group, MPI_Comm comm, int peer, int tag, uint64_t begin, uint64_t end,
                 uint32_t cell, MPI_Request request)
{
    if (!messages.open || peer == MPI_PROC_NULL)
        return;
    uint64_t id = id_of(group);
    bool wild = peer == MPI_ANY_SOURCE || (kind == MESSAGE_RECEIVE && tag == MPI_ANY_TAG);
    if (id == 0 || wild || messages.count == MESSAGES_MOST || used >= SLOTS / 2) {
        message_close();
        return;
    }
    bool done = request == MPI_REQUEST_NULL;
    uint32_t entry = messages.count;
    messages.log[entry] = (struct message){.posted = begin,
                                           .begin = begin,
                                           .end = done ? end : 0,
                                           .comm = id,
                                           .cell = done ? cell : MESSAGE_NO_CELL,
                                           .peer = comm_world_rank(group, comm, peer),
                                           .tag = tag,
                                           .kind = kind};
    messages.count++;
    if (done)
        return;
    /* An MPI may give one handle to all requests that are complete at once: then none of them has a call of its own. */
    uint32_t slot = slot_of(request);
    bool shared = slots[slot].entry != 0;
    used += !shared;
    slots[slot].handle = request;
    slots[slot].entry = (shared ? (uint32_t)UNTIMED : entry) + 1;
}

static MPI_Request handle_of(const void *requests, int i, bool fortran)
{
    return fortran ? PMPI_Request_f2c(((const MPI_Fint *)requests)[i]) : ((const MPI_Request *)requests)[i];
}

void message_look(int count, const void *requests, bool fortran)
{
    if (!messages.open)
        return;
    if (count > MESSAGES_WAITED) {
        message_close();
        return;
    }
    for (int i = 0; i < count; i++) {
        MPI_Request handle = handle_of(requests, i, fortran);
        uint32_t slot = slot_of(handle);
        waited[i] = slots[slot].entry != 0 ? slot : NONE;
    }
}

void message_completed(int count, const void *requests, bool fortran, bool waits, uint64_t begin, uint64_t end,
                       uint32_t cell)
{
    static MPI_Request gone[MESSAGES_WAITED];
    int completed = 0;
    if (!messages.open)
        return;
    for (int i = 0; i < count; i++) {
        if (waited[i] == NONE || handle_of(requests, i, fortran) != MPI_REQUEST_NULL)
            continue;
        uint32_t entry = slots[waited[i]].entry - 1;
        if (waits && entry != UNTIMED) {
            messages.log[entry].begin = begin;
            messages.log[entry].end = end;
            messages.log[entry].cell = cell;
        }
        gone[completed++] = slots[waited[i]].handle;
    }
    /* Only now: forgetting one moves others. */
    for (int i = 0; i < completed; i++)
        forget(gone[i]);
}
