/* Windows onto the memory of other processes, with stand-ins for what XPMEM's library does: what is attached is this process's own
 * memory, which two processes are said to have. That XPMEM itself works is found by each program that takes it (attach.h). */
#include "../collectives/node/attach.c"

#include "check.h"
#include "two_ranks.h"

enum { FIRST = 100, SECOND = 200, BYTES = 3 * WINDOW, REFUSED = 7, OWN = 5 };
static int attached, detached, refused_access, asked, made, forgotten, looked;
static bool tolerated, mpi_attaches, others_fail;

bool failure_tolerated(void)
{
    return tolerated;
}

bool attached_by_mpi(MPI_Comm near, bool mine)
{
    (void)near;
    looked++;
    return mine && mpi_attaches;
}

static int64_t get(int64_t segment, int flags, int kind, void *permission)
{
    CHECK(flags == READ_AND_WRITE && kind == BY_MODE && permission == NULL);
    asked++;
    return segment == REFUSED ? -1 : segment;
}

static int release(int64_t access)
{
    refused_access += access <= 0;
    return 0;
}

static void *attach(struct place place, size_t bytes, void *wish)
{
    CHECK(bytes == WINDOW && wish == NULL && place.offset % WINDOW == 0);
    if (place.access == 3)
        return (void *)-1;
    attached++;
    return (void *)(uintptr_t)place.offset;
}

static int undo(void *address)
{
    CHECK(address != NULL);
    detached++;
    return 0;
}

static int forget(int64_t segment)
{
    forgotten += segment == OWN;
    return 0;
}

static void start(int64_t first, int64_t second)
{
    attach_end();
    peers = calloc(2, sizeof *peers);
    peers[0] = (struct peer){FIRST, first, 0}, peers[1] = (struct peer){SECOND, second, 0};
    peer_count = 2;
    attached = detached = asked = 0;
}

/* Across windows, at any place, both ways; a window is attached once. */
static void test_move(char *memory, char *copy)
{
    start(1, 2);
    srandom(1);
    for (int i = 0; i < BYTES; i++)
        memory[i] = (char)random();
    const uint64_t base = (uint64_t)(uintptr_t)memory;
    CHECK(attach_read(FIRST, base, copy, BYTES) == BYTES && memcmp(memory, copy, BYTES) == 0);
    const int windows_of = attached;
    CHECK(windows_of >= 3 && windows_of <= 4 && asked == 1);
    for (int turn = 0; turn < 200; turn++) {
        const int64_t at = random() % BYTES, bytes = random() % (BYTES - at) / (1 + turn % 50);
        CHECK(attach_read(SECOND, base + (uint64_t)at, copy, bytes) == bytes);
        CHECK(memcmp(memory + at, copy, (size_t)bytes) == 0);
        copy[0] = (char)turn;
        CHECK(attach_write(FIRST, base + (uint64_t)at, copy, bytes) == bytes);
        CHECK(memcmp(memory + at, copy, (size_t)bytes) == 0);
    }
    CHECK(asked == 2 && attached > windows_of && attached <= 2 * windows_of && detached == 0);
    attach_end();
    CHECK(detached == attached && !attach_works());
    CHECK(attach_read(FIRST, base, copy, 8) == 0);
}

static long set_of(const struct window *window)
{
    return (window - windows[0]) / WAYS;
}

/* What is not attached is left to who asked: a process that is none of them, one that refuses, windows that do not go, a
   window's place that somebody is using for another. */
static void test_left(char *memory, char *copy)
{
    const uint64_t base = (uint64_t)(uintptr_t)memory;
    start(REFUSED, 3);
    CHECK(attach_read(FIRST, base, copy, 8) == 0 && attach_read(FIRST, base, copy, 8) == 0 && asked == 1);
    CHECK(attach_write(SECOND, base, copy, 8) == 0 && attached == 0);
    CHECK(attach_read(300, base, copy, 8) == 0);
    attach_end();
    CHECK(refused_access == 0);

    start(1, 2);
    struct window *held = take(FIRST, base / WINDOW);
    uint64_t other = base / WINDOW + 1;
    int taken = 1;
    for (; taken < WAYS; other++)
        if (set_of(find_place(FIRST, other)) == set_of(held))
            taken += take(FIRST, other) != NULL;
    while (find_place(FIRST, other) != NULL)
        other++;
    CHECK(held != NULL && attached == WAYS && detached == 0 && take(FIRST, other) == NULL);
    CHECK(attach_read(FIRST, base, copy, 8) == 8);
    give_back(held);
    CHECK(take(FIRST, other) == held && detached == 1); /* the only one that nobody uses */
    for (int i = 0; i < SETS * WAYS; i++)
        windows[i / WAYS][i % WAYS].users = 0;
    attach_end();
    CHECK(detached == attached);
}

static void *move_often(void *argument)
{
    char *memory = argument, copy[4096];
    for (int turn = 0; turn < 20000; turn++) {
        const uint64_t at = (uint64_t)(turn % 3) * WINDOW + (uint64_t)(turn % 1000);
        CHECK(attach_read(turn % 2 ? FIRST : SECOND, (uint64_t)(uintptr_t)memory + at, copy, sizeof copy) ==
              (int64_t)sizeof copy);
        CHECK(memcmp(copy, memory + at, sizeof copy) == 0);
    }
    return NULL;
}

static void test_threads(char *memory)
{
    pthread_t threads[4];
    start(1, 2);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, move_often, memory);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    attach_end();
    CHECK(detached == attached);
}

/* The library, as it is looked for in the program itself. */
int64_t xpmem_make(void *address, size_t bytes, int kind, void *permission)
{
    CHECK(address == NULL && bytes == (size_t)-1 && kind == BY_MODE && permission == (void *)(intptr_t)OWNER);
    made++;
    return OWN;
}

int xpmem_remove(int64_t segment)
{
    return forget(segment);
}

int64_t xpmem_get(int64_t segment, int flags, int kind, void *permission)
{
    return get(segment, flags, kind, permission);
}

int xpmem_release(int64_t access)
{
    return release(access);
}

void *xpmem_attach(struct place place, size_t bytes, void *wish)
{
    return attach(place, bytes, wish);
}

int xpmem_detach(void *address)
{
    return undo(address);
}

/* The other one of two ranks, which does what it is to do when they have agreed on the first: its memory, and this rank's. */
static int64_t *theirs, *mine_there;
static int agreements;

int PMPI_Allgather(const void *send, int count, MPI_Datatype type, void *receive, int room, MPI_Datatype received,
                   MPI_Comm comm)
{
    (void)type, (void)received, (void)comm;
    CHECK(count == (int)sizeof(struct peer) && room == count);
    struct peer *all = receive;
    memcpy(all, send, sizeof *all);
    all[1] = (struct peer){SECOND, 2, 0};
    return MPI_SUCCESS;
}

int PMPI_Sendrecv(const void *send, int count, MPI_Datatype type, int to, int tag, void *receive, int room,
                  MPI_Datatype received, int from, int other_tag, MPI_Comm comm, MPI_Status *status)
{
    (void)count, (void)type, (void)to, (void)tag, (void)room, (void)received, (void)from, (void)other_tag, (void)comm;
    (void)status;
    mine_there = (int64_t *)(uintptr_t)*(const uint64_t *)send;
    *(uint64_t *)receive = (uint64_t)(uintptr_t)theirs;
    agreements = 0;
    return MPI_SUCCESS;
}

int PMPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)count, (void)type, (void)op, (void)comm;
    const int half = (int)sysconf(_SC_PAGESIZE) / 8, turn = agreements / 3 + 1;
    *(int *)receive = *(const int *)send;
    if (mine_there != NULL && agreements % 3 == 0)
        theirs[0] = others_fail && turn == 2 ? 1001 : turn * 1000 + 1; /* what was there before */
    if (mine_there != NULL && agreements % 3 == 1) {
        CHECK(theirs[half] == -turn || others_fail);
        mine_there[half] = -turn;
    }
    agreements++;
    return MPI_SUCCESS;
}

/* Whether it works then, and whether the MPI library was looked at. */
static bool starts(const char *text)
{
    if (text != NULL)
        setenv("UNISONO_XPMEM", text, 1);
    else
        unsetenv("UNISONO_XPMEM");
    looked = made = forgotten = attached = detached = 0;
    mine_there = NULL;
    const bool works = attach_start(MPI_COMM_WORLD, (const int[]){FIRST, SECOND});
    CHECK(works == attach_works());
    attach_end();
    CHECK(!attach_works() && forgotten == made && detached == attached && (attached > 0) == (made > 0));
    return works;
}

/* As the MPI library does, unless it is asked for or forbidden. */
static void test_start(void)
{
    struct rlimit usual, most;
    device = "/dev/null", library_name = NULL;
    theirs = aligned_alloc(4096, 2 * (size_t)sysconf(_SC_PAGESIZE));
    CHECK(!starts(NULL) && looked == 1 && made == 0);
    CHECK(!starts("") && looked == 1 && made == 0);
    CHECK(starts("1") && looked == 0 && made == 1);
    mpi_attaches = true;
    CHECK(starts(NULL) && looked == 1 && made == 1);
    CHECK(!starts("0") && looked == 0 && made == 0);
    CHECK(!starts("yes") && looked == 0 && made == 0);
    others_fail = true;
    CHECK(!starts(NULL) && made == 1);
    others_fail = false;
    tolerated = true;
    CHECK(!starts(NULL) && looked == 1 && made == 0 && !starts("1") && made == 0);
    tolerated = false;
    CHECK(getrlimit(RLIMIT_AS, &usual) == 0);
    most = usual;
    most.rlim_cur = (rlim_t)1 << 46;
    CHECK(usual.rlim_cur == RLIM_INFINITY && setrlimit(RLIMIT_AS, &most) == 0);
    CHECK(!starts(NULL) && looked == 1 && made == 0 && !starts("1") && made == 0);
    CHECK(setrlimit(RLIMIT_AS, &usual) == 0 && starts(NULL));
    device = "/dev/none such";
    CHECK(!starts(NULL) && looked == 1 && made == 0);
    free(theirs);
}

int main(void)
{
    char *memory = malloc(BYTES), *copy = malloc(BYTES);
    CHECK(memory != NULL && copy != NULL);
    xpmem.get = get, xpmem.release = release, xpmem.attach = attach, xpmem.detach = undo, xpmem.remove = forget;
    test_move(memory, copy);
    test_left(memory, copy);
    test_threads(memory);
    test_start();
    free(memory);
    free(copy);
    return verdict();
}
