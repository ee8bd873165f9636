#include "attached.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agreed.h"

/* A message that no MPI library sends through cells by default; the longest steps by which they attach memory; descriptors that are looked
 * at, of as many as a process may have; attached mappings that are told apart. */
enum { SHORT = 4096, LONG = 1 << 20, STEP = 32 << 20, DESCRIPTORS = 1 << 16, MAPPINGS = 1024 };
static const char *device = "/dev/xpmem", *mappings = "/proc/self/maps";

/* By names, which no file system is asked for: one that hangs would have the program hang. */
static bool is_open(void)
{
    char wanted[PATH_MAX], name[PATH_MAX];
    DIR *folder = realpath(device, wanted) != NULL ? opendir("/proc/self/fd") : NULL;
    bool found = false;
    struct dirent *one = NULL;
    for (int i = 0; folder != NULL && !found && i < DESCRIPTORS && (one = readdir(folder)) != NULL; i++) {
        const ssize_t length = readlinkat(dirfd(folder), one->d_name, name, sizeof name - 1);
        name[length > 0 ? length : 0] = '\0';
        found = strcmp(name, wanted) == 0;
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

struct mapping {
    uint64_t begin, end;
};

/* A line of the mappings: whether it may be one of memory of another process. */
static bool may_be_attached(const char *line, struct mapping *mapping)
{
    uint64_t inode;
    char may[8];
    int path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*x %*x:%*x %" SCNu64 " %n", &mapping->begin, &mapping->end, may,
               &inode, &path) < 4 ||
        path == 0 || may[3] != 's')
        return false;
    const char *name = line + path;
    const size_t length = strlen(device);
    const bool of_device = strncmp(name, device, length) == 0 && (name[length] == '\n' || name[length] == '\0');
    return of_device || (inode == 0 && name[0] == '\0');
}

/* How many, ascending; -1: it cannot be told. */
static int find_attached(struct mapping found[MAPPINGS])
{
    FILE *file = fopen(mappings, "re");
    char *line = NULL;
    size_t room = 0;
    int count = file != NULL ? 0 : -1;
    struct mapping one;
    while (count >= 0 && getline(&line, &room, file) > 0)
        if (may_be_attached(line, &one)) {
            if (count == MAPPINGS)
                count = -1;
            else
                found[count++] = one;
        }
    free(line);
    if (file != NULL)
        fclose(file);
    return count;
}

static bool is_new(const struct mapping *one, const struct mapping *before, int count)
{
    for (int i = 0; i < count; i++)
        if (before[i].begin == one->begin && before[i].end == one->end)
            return false;
    return one->end - one->begin >= LONG / 2; /* less, where the message's begin went another way */
}

/* To the next rank, from the one before; `room`: two messages, one after the other. */
static bool pass_on(MPI_Comm near, char *room, int bytes)
{
    int rank, ranks;
    PMPI_Comm_size(near, &ranks);
    PMPI_Comm_rank(near, &rank);
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    return PMPI_Sendrecv(room, bytes, MPI_BYTE, next, 0, room + bytes, bytes, MPI_BYTE, before, 0, near,
                         MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* Short messages first, as the queues through which they go may be attached memory too; from elsewhere, as they may be attached themselves
 * (btl/vader: from 257 B on). Who copies the long one may be who sends, who receives, or both. */
static bool copied_attached(MPI_Comm near, char *room)
{
    struct mapping old[MAPPINGS], now[MAPPINGS];
    char elsewhere[2 * SHORT] = {0};
    memset(room, 1, 2 * (size_t)LONG); /* pages that are there */
    bool told = pass_on(near, elsewhere, 8) && pass_on(near, elsewhere, SHORT);
    const int olds = told ? find_attached(old) : -1;
    told = pass_on(near, room, LONG);
    const int nows = told && olds >= 0 ? find_attached(now) : -1;
    bool found = false;
    for (int i = 0; i < nows && !found; i++)
        found = is_new(&now[i], old, olds);
    return found;
}

/* Addresses of which nobody can have attached any before, as he would have who had attached what is next to it by long steps: all of such a
 * step is this room's. */
static char *addresses(void)
{
    void *all = mmap(NULL, 2 * (size_t)STEP, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return all != MAP_FAILED ? all : NULL;
}

static char *room_of(char *all)
{
    char *room = all + (STEP - (uintptr_t)all % STEP) % STEP;
    return mprotect(room, 2 * (size_t)LONG, PROT_READ | PROT_WRITE) == 0 ? room : NULL;
}

bool attached_by_mpi(MPI_Comm near, bool mine)
{
    char *all = mine && is_open() ? addresses() : NULL, *room = all != NULL ? room_of(all) : NULL;
    const bool seen = agreed(near, room != NULL) && agreed(near, copied_attached(near, room));
    if (all != NULL)
        munmap(all, 2 * (size_t)STEP);
    return seen;
}
