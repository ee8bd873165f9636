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

/* Whether all have it. */
static bool share(struct segment *segment, MPI_Comm node, size_t head, size_t each, bool named, struct problem *problem)
{
    struct shared_place place = {0};
    int rank, file = -1;
    MPI_Comm_rank(node, &rank);
    if (rank == 0)
        file = shared_memory_make(&place, named);
    MPI_Bcast(&place, sizeof place, MPI_BYTE, 0, node);
    if (rank != 0 && place.path[0] != '\0')
        file = shared_memory_join(&place);
    if (file < 0)
        problem_set(problem, "shared memory: a file in /dev/shm: %s", strerror(errno));
    if (file >= 0 && fill_part(file, head + (size_t)rank * each, each, problem) &&
        (rank != 0 || fill_part(file, 0, head, problem)))
        segment->base = shared_memory_map(file, segment->bytes);
    if (file >= 0 && segment->base == NULL)
        problem_set(problem, "shared memory: %s", strerror(errno));
    int good = segment->base != NULL;
    int all = 0;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, node);
    if (rank == 0)
        shared_memory_unname(&place);
    if (file >= 0)
        close(file);
    return all;
}

bool segment_create(struct segment *segment, MPI_Comm node, size_t head, size_t each, struct problem *problem)
{
    int ranks;
    MPI_Comm_size(node, &ranks);
    for (int named = 0; named < 2; named++) {
        struct problem here = {0};
        *segment = (struct segment){.bytes = head + (size_t)ranks * each};
        if (share(segment, node, head, each, named, &here))
            return true;
        segment_free(segment);
        if (named)
            *problem = here;
    }
    return problem_set(problem, "shared memory: another rank of the node has none");
}

void segment_free(struct segment *segment)
{
    if (segment->base != NULL)
        munmap(segment->base, segment->bytes);
    *segment = (struct segment){0};
}
