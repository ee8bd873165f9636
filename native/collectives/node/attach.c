#include "attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include "../failure.h"
#include "agreed.h"
#include "attached.h"

/* Of xpmem.h: its library is looked for when it is wanted, as few machines have it. */
static const char *device = "/dev/xpmem", *library_name = "libxpmem.so.0";
enum { READ_AND_WRITE = 2, BY_MODE = 1, OWNER = 0600 };
struct place {
    int64_t access;
    off_t offset;
};
static struct {
    int64_t (*make)(void *address, size_t bytes, int kind, void *permission);
    int (*remove)(int64_t segment);
    int64_t (*get)(int64_t segment, int flags, int kind, void *permission);
    int (*release)(int64_t access);
    void *(*attach)(struct place place, size_t bytes, void *wish);
    int (*detach)(void *address);
} xpmem;

/* Memory is attached by windows, and the last ones stay, each in one of few places: a process has so many mappings at most. */
enum { WINDOW = 4 << 20, SETS = 128, WAYS = 8 };
static struct window {
    char *here; /* NULL: none */
    int process, users;
    uint64_t number;
} windows[SETS][WAYS];
static unsigned next_way; /* whose window goes when a place is needed */

/* The ranks of the machine, ascending by their processes. */
static struct peer {
    int process;
    int64_t segment, access; /* access 0: not asked for; -1: refused */
} *peers;
static int peer_count;
static int64_t own_segment = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* windows, access */

bool attach_works(void)
{
    return peers != NULL;
}

static int by_process(const void *a, const void *b)
{
    const struct peer *x = a, *y = b;
    return (x->process > y->process) - (x->process < y->process);
}

/* 0: none. */
static int64_t access_to(int process)
{
    const struct peer key = {.process = process};
    struct peer *peer = bsearch(&key, peers, (size_t)peer_count, sizeof *peers, by_process);
    if (peer == NULL)
        return 0;
    if (peer->access == 0)
        peer->access = xpmem.get(peer->segment, READ_AND_WRITE, BY_MODE, NULL);
    return peer->access > 0 ? peer->access : 0;
}

static void detach(struct window *window)
{
    if (window->here != NULL)
        xpmem.detach(window->here);
    window->here = NULL;
}

/* The window, or a place that is free for it; NULL: all are in use. */
static struct window *find_place(int process, uint64_t number)
{
    const uint64_t hash = (number ^ (uint64_t)process << 40) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    struct window *set = windows[hash % SETS], *place = NULL;
    for (int way = 0; way < WAYS; way++)
        if (set[way].here != NULL && set[way].process == process && set[way].number == number)
            return &set[way];
    for (int way = 0; way < WAYS && (place == NULL || place->here != NULL); way++) {
        struct window *one = &set[(next_way + (unsigned)way) % WAYS];
        if (one->users == 0 && (place == NULL || one->here == NULL))
            place = one;
    }
    if (place != NULL && place->here != NULL) {
        detach(place);
        next_way++;
    }
    return place;
}

/* Keeps it until it is given back; NULL: it cannot be attached now. */
static struct window *take(int process, uint64_t number)
{
    pthread_mutex_lock(&lock);
    const struct place place = {access_to(process), (off_t)(number * WINDOW)};
    struct window *window = place.access != 0 ? find_place(process, number) : NULL;
    if (window != NULL && window->here == NULL) {
        void *here = xpmem.attach(place, WINDOW, NULL);
        *window = (struct window){here == (void *)-1 ? NULL : here, process, 0, number};
    }
    const bool attached = window != NULL && window->here != NULL;
    if (attached)
        window->users++;
    pthread_mutex_unlock(&lock);
    return attached ? window : NULL;
}

static void give_back(struct window *window)
{
    pthread_mutex_lock(&lock);
    window->users--;
    pthread_mutex_unlock(&lock);
}

static int64_t move(int process, uint64_t remote, char *to, const char *from, int64_t bytes)
{
    int64_t done = 0;
    while (peers != NULL && done < bytes) {
        const uint64_t at = remote + (uint64_t)done, in_window = at % WINDOW;
        struct window *window = take(process, at / WINDOW);
        if (window == NULL)
            break;
        const int64_t left = bytes - done, fits = WINDOW - (int64_t)in_window, piece = left < fits ? left : fits;
        if (to != NULL)
            memcpy(to + done, window->here + in_window, (size_t)piece);
        else
            memcpy(window->here + in_window, from + done, (size_t)piece);
        give_back(window);
        done += piece;
    }
    return done;
}

int64_t attach_read(int process, uint64_t remote, char *to, int64_t bytes)
{
    return move(process, remote, to, NULL, bytes);
}

int64_t attach_write(int process, uint64_t remote, const char *from, int64_t bytes)
{
    return move(process, remote, NULL, from, bytes);
}

static bool find(void *library, const char *name, void *to, size_t bytes)
{
    void *found = dlsym(library, name);
    memcpy(to, &found, bytes);
    return found != NULL;
}

/* NULL, or what is missing. */
static const char *open_library(void)
{
    if (access(device, R_OK | W_OK) != 0)
        return errno == ENOENT ? "there is no /dev/xpmem" : "/dev/xpmem may not be used";
    void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return "there is no libxpmem.so.0";
#define FIND(name) find(library, "xpmem_" #name, &xpmem.name, sizeof xpmem.name)
    return FIND(make) && FIND(remove) && FIND(get) && FIND(release) && FIND(attach) && FIND(detach)
               ? NULL
               : "libxpmem.so.0 has not all that is needed";
#undef FIND
}

/* What is attached counts as a process's own: windows would take what the program is to have. */
static bool addresses_are_limited(void)
{
    struct rlimit most;
    return getrlimit(RLIMIT_AS, &most) != 0 || most.rlim_cur != RLIM_INFINITY;
}

/* NULL, or why nothing is attached, wherever it would work. */
static const char *unwanted(void)
{
    return failure_tolerated()       ? "processes may fail and others go on"
           : addresses_are_limited() ? "a process's addresses are limited (ulimit -v)"
                                     : NULL;
}

/* NULL, or why this rank's memory cannot be attached by others. */
static const char *offer(void)
{
    const char *missing = unwanted();
    if (missing == NULL)
        missing = open_library();
    if (missing != NULL)
        return missing;
    own_segment = xpmem.make(NULL, (size_t)-1, BY_MODE, (void *)(intptr_t)OWNER);
    return own_segment > 0 ? NULL : "xpmem_make() refuses a process's memory";
}

/* Memory of its own, where others look for it: anew at the same place the second time. NULL: none. */
static volatile int64_t *fresh(void *at, size_t bytes)
{
    const int fixed = at != NULL ? MAP_FIXED : 0;
    if (at != NULL)
        munmap(at, bytes);
    void *memory = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Every rank reads what the next one has, before and after that has mapped it anew, and writes into it. */
static bool proven(MPI_Comm near, const int *process, int rank, int ranks)
{
    const size_t bytes = 2 * (size_t)sysconf(_SC_PAGESIZE);
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    volatile int64_t *memory = fresh(NULL, bytes), *last = memory;
    uint64_t mine = (uint64_t)(uintptr_t)memory, theirs = 0;
    bool good =
        agreed(near, memory != NULL) && PMPI_Sendrecv(&mine, 1, MPI_UINT64_T, before, 0, &theirs, 1, MPI_UINT64_T, next,
                                                      0, near, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    for (int64_t turn = 1; turn <= 3; turn++) {
        int64_t found = 0, answer = -turn;
        if (good && turn > 1)
            memory = fresh((void *)(uintptr_t)memory, bytes);
        good = good && memory != NULL;
        if (good)
            memory[0] = turn * 1000 + rank;
        good = agreed(near, good);
        good = good && attach_read(process[next], theirs, (char *)&found, 8) == 8 && found == turn * 1000 + next &&
               attach_write(process[next], theirs + bytes / 2, (const char *)&answer, 8) == 8;
        good = agreed(near, good) && memory[bytes / 2 / 8] == -turn;
        good = agreed(near, good);
    }
    if (last != NULL)
        munmap((void *)(uintptr_t)last, bytes);
    return good;
}

void attach_end(void)
{
    for (int i = 0; i < SETS * WAYS; i++)
        detach(&windows[i / WAYS][i % WAYS]);
    for (int i = 0; peers != NULL && i < peer_count; i++)
        if (peers[i].access > 0)
            xpmem.release(peers[i].access);
    if (own_segment > 0)
        xpmem.remove(own_segment);
    own_segment = -1;
    free(peers);
    peers = NULL;
}

/* It works, and stays, or nothing is left of it. */
static bool begin(MPI_Comm near, const int *process, const char *missing)
{
    int rank, ranks;
    PMPI_Comm_size(near, &ranks);
    PMPI_Comm_rank(near, &rank);
    struct peer *all = calloc((size_t)ranks, sizeof *all), mine = {process[rank], own_segment, 0};
    bool good = agreed(near, missing == NULL && all != NULL) &&
                agreed(near, PMPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, near) ==
                                 MPI_SUCCESS);
    if (good) {
        qsort(all, (size_t)ranks, sizeof *all, by_process);
        peers = all, peer_count = ranks;
        good = proven(near, process, rank, ranks);
    } else {
        free(all);
    }
    if (!good)
        attach_end();
    return good;
}

bool attach_start(MPI_Comm near, const int *process)
{
    const char *text = getenv("UNISONO_XPMEM"); /* the same on all ranks (agree.h) */
    const bool said = text != NULL && text[0] != '\0', asked = said && strcmp(text, "1") == 0;
    int ranks, world;
    PMPI_Comm_size(near, &ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    if (said && !asked && strcmp(text, "0") != 0 && world == 0)
        fprintf(stderr, "unisono: UNISONO_XPMEM: %s is neither 0 nor 1; other ranks' memory is read by system calls\n",
                text);
    if (ranks < 2 || (said && !asked) || (!said && !attached_by_mpi(near, unwanted() == NULL)))
        return false;
    const char *missing = offer();
    const bool good = begin(near, process, missing);
    if (asked && !good && world == 0)
        fprintf(stderr, "unisono: UNISONO_XPMEM: %s; other ranks' memory is read by system calls\n",
                missing != NULL ? missing : "it does not work between all ranks of this machine");
    return good;
}
