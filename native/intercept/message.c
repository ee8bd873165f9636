#include "message.h"

#include "request.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { SLOTS = 1 << 14, KNOWN_MOST = 1024, UNTIMED = MESSAGES_MOST, NONE = MESSAGES_MOST + 1 };

struct messages messages;

/* Requests that are not complete, by open addressing; a removed one is closed up. */
static struct {
    MPI_Request handle;
    MPI_Comm comm;  /* of a receive from any source or with any tag, else MPI_COMM_NULL */
    uint32_t entry; /* in the log + 1; 0: an empty slot */
    bool cancelled; /* it was asked for */
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
    messages.count = messages.wild = 0;
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

uint64_t message_comm(const struct group *group)
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
    messages.wild -= slots[hole].comm != MPI_COMM_NULL;
    for (uint32_t i = (hole + 1) & (SLOTS - 1); slots[i].entry != 0; i = (i + 1) & (SLOTS - 1)) {
        if (((i - home(slots[i].handle)) & (SLOTS - 1)) >= ((i - hole) & (SLOTS - 1))) {
            slots[hole] = slots[i];
            hole = i;
        }
    }
    slots[hole].comm = MPI_COMM_NULL;
    slots[hole].entry = 0;
}

static bool full(void)
{
    return messages.count == MESSAGES_MOST || used >= SLOTS / 2;
}

/* `comm` for slots[].comm. */
static void add(const struct envelope *envelope, uint64_t begin, uint64_t end, uint32_t cell, MPI_Request request,
                MPI_Comm comm)
{
    bool done = request == MPI_REQUEST_NULL;
    uint32_t entry = messages.count;
    messages.log[entry] = (struct message){.posted = begin,
                                           .begin = begin,
                                           .end = done ? end : 0,
                                           .comm = envelope->comm,
                                           .bytes = envelope->bytes > 0 ? (uint64_t)envelope->bytes : 0,
                                           .cell = done ? cell : MESSAGE_NO_CELL,
                                           .peer = envelope->peer,
                                           .tag = envelope->tag,
                                           .kind = envelope->kind};
    messages.count++;
    if (done)
        return;
    /* An MPI may give one handle to all requests that are complete at once: then none of them has a call of its own. */
    uint32_t slot = slot_of(request);
    bool shared = slots[slot].entry != 0;
    messages.wild -= shared && slots[slot].comm != MPI_COMM_NULL;
    messages.wild += !shared && comm != MPI_COMM_NULL;
    used += !shared;
    slots[slot].handle = request;
    slots[slot].comm = shared ? MPI_COMM_NULL : comm;
    slots[slot].entry = (shared ? (uint32_t)UNTIMED : entry) + 1;
    slots[slot].cancelled = false;
}

void message_add(uint32_t kind, const struct group *group, MPI_Comm comm, int peer, int tag, int64_t bytes,
                 uint64_t begin, uint64_t end, uint32_t cell, MPI_Request request)
{
    if (!messages.open || peer == MPI_PROC_NULL)
        return;
    uint64_t id = message_comm(group);
    if (id == 0 || full()) {
        message_close();
        return;
    }
    bool wild = peer == MPI_ANY_SOURCE || (kind == MESSAGE_RECEIVE && tag == MPI_ANY_TAG);
    int world = wild ? MESSAGE_OPEN : comm_world_rank(group, comm, peer);
    add(&(struct envelope){kind, id, world, tag, bytes}, begin, end, cell, request, wild ? comm : MPI_COMM_NULL);
}

void message_started(const struct envelope *envelope, uint64_t begin, uint64_t end, MPI_Request request)
{
    if (!messages.open)
        return;
    if (envelope->comm == 0 || envelope->peer == MESSAGE_OPEN || full()) {
        message_close(); /* on which communicator a receive from any source was made is not kept */
        return;
    }
    add(envelope, begin, end, MESSAGE_NO_CELL, request, MPI_COMM_NULL);
}

void message_look(int count, const void *requests, bool fortran)
{
    messages.asked = false;
    if (!messages.open)
        return;
    if (count > MESSAGES_WAITED) {
        message_close();
        return;
    }
    for (int i = 0; i < count; i++) {
        MPI_Request handle = request_handle(requests, i, fortran);
        uint32_t slot = slot_of(handle);
        waited[i] = slots[slot].entry != 0 ? slot : NONE;
        messages.asked |= waited[i] != NONE && (slots[slot].comm != MPI_COMM_NULL || slots[slot].cancelled);
    }
}

MPI_Status *message_statuses(MPI_Status *given)
{
    static MPI_Status own[MESSAGES_WAITED];
    return messages.asked && (given == MPI_STATUS_IGNORE || given == MPI_STATUSES_IGNORE) ? own : given;
}

/* Whose message a receive from any source or with any tag got; and nobody's where it was cancelled. */
static void matched(struct message *message, MPI_Comm comm, const void *statuses, int i, bool fortran)
{
    MPI_Status status;
    int cancelled = 0;
    if (statuses == NULL) {
        message->peer = MESSAGE_OPEN;
        return;
    }
    if (fortran)
        PMPI_Status_f2c((const MPI_Fint *)statuses + (size_t)i * (sizeof(MPI_Status) / sizeof(MPI_Fint)), &status);
    else
        status = ((const MPI_Status *)statuses)[i];
    PMPI_Test_cancelled(&status, &cancelled);
    if (cancelled) {
        message->peer = MESSAGE_CANCELLED;
    } else if (comm != MPI_COMM_NULL) {
        message->peer = comm_world_rank(comm_group(comm), comm, status.MPI_SOURCE);
        message->tag = status.MPI_TAG;
    }
}

void message_completed(const struct outcome *outcome, bool fortran, bool waits, uint64_t begin, uint64_t end,
                       uint32_t cell)
{
    static MPI_Request gone[MESSAGES_WAITED];
    int completed = 0;
    if (!messages.open)
        return;
    for (int i = 0; i < outcome->done; i++) {
        int place = outcome->indices != NULL ? ((const int *)outcome->indices)[i] - fortran : i;
        if (place < 0 || place >= MESSAGES_WAITED || waited[place] == NONE)
            continue;
        uint32_t entry = slots[waited[place]].entry - 1;
        MPI_Comm comm = slots[waited[place]].comm;
        if (waits && entry != UNTIMED) {
            messages.log[entry].begin = begin;
            messages.log[entry].end = end;
            messages.log[entry].cell = cell;
        }
        if (entry != UNTIMED && (comm != MPI_COMM_NULL || slots[waited[place]].cancelled))
            matched(&messages.log[entry], comm, outcome->statuses, i, fortran);
        gone[completed++] = slots[waited[place]].handle;
    }
    /* Only now: forgetting one moves others. */
    for (int i = 0; i < completed; i++)
        forget(gone[i]);
}

void message_cancelled(void)
{
    if (!messages.open || waited[0] == NONE)
        return;
    if (slots[waited[0]].entry == UNTIMED + 1)
        message_close();
    slots[waited[0]].cancelled = true;
}

void message_dropped(void)
{
    if (messages.open && waited[0] != NONE)
        message_close();
}
