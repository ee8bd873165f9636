#include "room.h"

#include <stddef.h>

int64_t room_limit_of(int64_t shared, int64_t memory, int ranks)
{
    int64_t limit = (shared < memory ? shared : memory) / 4;
    limit = limit < ROOM_A_NODE ? limit : ROOM_A_NODE;
    if (limit / ROOM_A_RANK >= ranks)
        limit = ranks * ROOM_A_RANK;
    return limit > 0 ? limit : 0;
}

int64_t room_given(const char *text)
{
    int64_t bytes = 0;
    if (*text == '\0')
        return -1;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || bytes > INT64_MAX / 10 - 1)
            return -1;
        bytes = 10 * bytes + (*text - '0');
    }
    return bytes;
}

#ifdef UNISONO_SIMULATED

/* The memory of simulated nodes is not this machine's. */
int room_start(MPI_Comm near)
{
    (void)near;
    return MPI_SUCCESS;
}

void room_end(void)
{
}

bool room_named(void)
{
    return false;
}

int64_t room_limit(void)
{
    return INT64_MAX;
}

int64_t room_number(void)
{
    return 0;
}

bool room_take(int64_t bytes)
{
    (void)bytes;
    return true;
}

void room_give(int64_t bytes)
{
    (void)bytes;
}

bool room_spares(int64_t bytes)
{
    (void)bytes;
    return true;
}

#else

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../../common/memory.h"
#include "../../common/shared_memory.h"

static _Atomic int64_t *taken; /* in the page that all share, before the numbers given; NULL: nothing is shared */
static int64_t limit;
static bool named;

bool room_named(void)
{
    return named;
}

int64_t room_limit(void)
{
    return limit;
}

int64_t room_number(void)
{
    return taken != NULL ? atomic_fetch_add(taken + 1, 1) + 1 : 0;
}

bool room_take(int64_t bytes)
{
    if (taken == NULL)
        return false;
    if (atomic_fetch_add(taken, bytes) + bytes <= limit)
        return true;
    room_give(bytes);
    return false;
}

void room_give(int64_t bytes)
{
    if (taken != NULL)
        atomic_fetch_sub(taken, bytes);
}

bool room_spares(int64_t bytes)
{
    return bytes <= memory_available() / 4;
}

/* As this rank sees it: its cgroups may be its own, and what it is given too. */
static int64_t own_limit(int ranks, bool complains)
{
    const char *text = getenv("UNISONO_SHARED_MEMORY");
    int64_t given = text != NULL ? room_given(text) : -1;
    if (given >= 0)
        return given;
    if (text != NULL && complains)
        fprintf(stderr, "unisono: UNISONO_SHARED_MEMORY: %s is no number of bytes; the default is taken\n", text);
    struct statvfs space;
    if (statvfs("/dev/shm", &space) != 0 || (space.f_flag & ST_RDONLY) != 0)
        return 0;
    return room_limit_of((int64_t)space.f_bavail * (int64_t)space.f_frsize, memory_available(), ranks);
}

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* The page; NULL: it cannot be had. */
static void *page_of(int file)
{
    return file >= 0 && shared_memory_fill(file, 0, page()) == 0 ? shared_memory_map(file, page()) : NULL;
}

/* Every rank's page and the least limit of all, 0 where one has none. MPI error code. */
static int share_page(MPI_Comm near, int64_t mine, bool names, void **memory, int64_t *all)
{
    struct shared_place place = {0};
    int rank, file = -1;
    PMPI_Comm_rank(near, &rank);
    if (rank == 0 && mine > 0)
        file = shared_memory_make(&place, names);
    int error = PMPI_Bcast(&place, sizeof place, MPI_BYTE, 0, near);
    if (error == MPI_SUCCESS && rank != 0 && place.path[0] != '\0')
        file = shared_memory_join(&place);
    *memory = page_of(file);
    mine = *memory != NULL ? mine : 0;
    *all = 0;
    error = error ? error : PMPI_Allreduce(&mine, all, 1, MPI_INT64_T, MPI_MIN, near);
    if (rank == 0)
        shared_memory_unname(&place);
    if (file >= 0)
        close(file);
    if (*memory != NULL && (error != MPI_SUCCESS || *all == 0)) {
        munmap(*memory, page());
        *memory = NULL;
    }
    return error;
}

int room_start(MPI_Comm near)
{
    int rank, ranks;
    void *memory;
    PMPI_Comm_rank(near, &rank);
    PMPI_Comm_size(near, &ranks);
    int64_t mine = own_limit(ranks, rank == 0), all;
    named = false;
    int error = share_page(near, mine, named, &memory, &all);
    if (error == MPI_SUCCESS && all == 0) {
        named = true;
        error = share_page(near, mine, named, &memory, &all);
    }
    taken = memory;
    limit = memory != NULL ? all : 0;
    return error;
}

void room_end(void)
{
    if (taken != NULL)
        munmap((void *)(uintptr_t)taken, page());
    taken = NULL;
    limit = 0;
}

#endif
