#include "segment.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared_memory.h"

static bool fill_part(int file, size_t start, size_t bytes, struct problem *problem)
{
    int error = shared_memory_fill(file, start, bytes);
    return error == 0 || problem_set(problem, "shared memory: %zu bytes in /dev/shm: %s", bytes, strerror(error));
}

bool segment_create(struct segment *segment, MPI_Comm node, size_t head, size_t each, struct problem *problem)
{
    char name[SHARED_NAME_BYTES];
    int rank, ranks;
    int file = -1;
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &ranks);
    *segment = (struct segment){.bytes = head + (size_t)ranks * each};
    shared_memory_name(name);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, node);
    if (rank == 0)
        file = shared_memory_open(name, true);
    MPI_Barrier(node);
    if (rank != 0)
        file = shared_memory_open(name, false);
    if (file < 0)
        problem_set(problem, "shared memory: %s: %s", name, strerror(errno));
    if (file >= 0 && fill_part(file, head + (size_t)rank * each, each, problem) &&
        (rank != 0 || fill_part(file, 0, head, problem)))
        segment->base = shared_memory_map(file, segment->bytes);
    if (file >= 0 && segment->base == NULL)
        problem_set(problem, "shared memory: %s", strerror(errno));
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
