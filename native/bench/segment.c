#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"

enum { NAME_BYTES = 64 };

/* Makes the pages of one part: posix_fallocate answers "no space" where touching a page would end the process. */
static bool fill_part(int file, size_t start, size_t bytes, struct problem *problem)
{
    int error = bytes ? posix_fallocate(file, (off_t)start, (off_t)bytes) : 0;
    return error == 0 || problem_set(problem, "shared memory: %zu bytes in /dev/shm: %s", bytes, strerror(error));
}

static void map(struct segment *segment, int file, struct problem *problem)
{
    void *base = mmap(NULL, segment->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED)
        problem_set(problem, "shared memory: %s", strerror(errno));
    else
        segment->base = base;
}

bool segment_create(struct segment *segment, MPI_Comm node, size_t head, size_t each, struct problem *problem)
{
    char name[NAME_BYTES];
    int rank, ranks;
    int file = -1;
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &ranks);
    *segment = (struct segment){.bytes = head + (size_t)ranks * each};
    snprintf(name, sizeof name, "/unisono-%ld-%lld", (long)getpid(), (long long)clock_now());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, node);
    if (rank == 0)
        file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    MPI_Barrier(node);
    if (rank != 0)
        file = shm_open(name, O_RDWR, 0600);
    if (file < 0)
        problem_set(problem, "shared memory: %s: %s", name, strerror(errno));
    if (file >= 0 && fill_part(file, head + (size_t)rank * each, each, problem) &&
        (rank != 0 || fill_part(file, 0, head, problem)))
        map(segment, file, problem);
    if (file >= 0)
        close(file);
    int good = segment->base != NULL;
    int all = 0;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, node);
    if (rank == 0)
        shm_unlink(name);
    if (all)
        return true;
    segment_free(segment);
    return problem_set(problem, "shared memory: another rank of the node has none");
}

void segment_free(struct segment *segment)
{
    if (segment->base != NULL)
        munmap(segment->base, segment->bytes);
    *segment = (struct segment){0};
}
