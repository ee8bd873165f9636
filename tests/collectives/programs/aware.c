/* A device: memory that nobody can touch but who goes by its driver, and an MPI library that does. Preloaded behind ours. */
#include <dlfcn.h>
#include <stddef.h>
#include <sys/mman.h>

#include <mpi.h>

enum { ROOM = 1 << 26 };
static char *memory;
static size_t used;

void device_open(int open)
{
    if (memory != NULL)
        mprotect(memory, ROOM, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void *device_allocate(size_t bytes)
{
    if (memory == NULL)
        memory = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    used += bytes;
    return memory + used - bytes;
}

int device_has(const void *at)
{
    return memory != NULL && (const char *)at >= memory && (const char *)at < memory + ROOM;
}

#define AWARE(name, declared, passed)                                                                                  \
    int PMPI_##name declared                                                                                           \
    {                                                                                                                  \
        int(*next) declared;                                                                                           \
        *(void **)&next = dlsym(RTLD_NEXT, "PMPI_" #name);                                                             \
        device_open(1);                                                                                                \
        int status = next passed;                                                                                      \
        device_open(0);                                                                                                \
        return status;                                                                                                 \
    }

#define TYPED int n, MPI_Datatype t
#define PLACED const int *n, const int *p, MPI_Datatype t
AWARE(Allreduce, (const void *a, void *b, TYPED, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
AWARE(Reduce, (const void *a, void *b, TYPED, MPI_Op o, int r, MPI_Comm c), (a, b, n, t, o, r, c))
AWARE(Scan, (const void *a, void *b, TYPED, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
AWARE(Exscan, (const void *a, void *b, TYPED, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
AWARE(Reduce_scatter_block, (const void *a, void *b, TYPED, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
AWARE(Reduce_scatter, (const void *a, void *b, const int *n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c))
AWARE(Bcast, (void *a, TYPED, int r, MPI_Comm c), (a, n, t, r, c))
AWARE(Allgather, (const void *a, TYPED, void *b, int m, MPI_Datatype u, MPI_Comm c), (a, n, t, b, m, u, c))
AWARE(Neighbor_allgather, (const void *a, TYPED, void *b, int m, MPI_Datatype u, MPI_Comm c), (a, n, t, b, m, u, c))
AWARE(Alltoall, (const void *a, TYPED, void *b, int m, MPI_Datatype u, MPI_Comm c), (a, n, t, b, m, u, c))
AWARE(Neighbor_alltoall, (const void *a, TYPED, void *b, int m, MPI_Datatype u, MPI_Comm c), (a, n, t, b, m, u, c))
AWARE(Gather, (const void *a, TYPED, void *b, int m, MPI_Datatype u, int r, MPI_Comm c), (a, n, t, b, m, u, r, c))
AWARE(Scatter, (const void *a, TYPED, void *b, int m, MPI_Datatype u, int r, MPI_Comm c), (a, n, t, b, m, u, r, c))
AWARE(Gatherv, (const void *a, TYPED, void *b, const int *m, const int *q, MPI_Datatype u, int r, MPI_Comm c),
      (a, n, t, b, m, q, u, r, c))
AWARE(Scatterv, (const void *a, PLACED, void *b, int m, MPI_Datatype u, int r, MPI_Comm c), (a, n, p, t, b, m, u, r, c))
AWARE(Allgatherv, (const void *a, TYPED, void *b, const int *m, const int *q, MPI_Datatype u, MPI_Comm c),
      (a, n, t, b, m, q, u, c))
AWARE(Neighbor_allgatherv, (const void *a, TYPED, void *b, const int *m, const int *q, MPI_Datatype u, MPI_Comm c),
      (a, n, t, b, m, q, u, c))
AWARE(Alltoallv, (const void *a, PLACED, void *b, const int *m, const int *q, MPI_Datatype u, MPI_Comm c),
      (a, n, p, t, b, m, q, u, c))
AWARE(Neighbor_alltoallv, (const void *a, PLACED, void *b, const int *m, const int *q, MPI_Datatype u, MPI_Comm c),
      (a, n, p, t, b, m, q, u, c))
AWARE(Alltoallw,
      (const void *a, const int *n, const int *p, const MPI_Datatype *t, void *b, const int *m, const int *q,
       const MPI_Datatype *u, MPI_Comm c),
      (a, n, p, t, b, m, q, u, c))
AWARE(Neighbor_alltoallw,
      (const void *a, const int *n, const MPI_Aint *p, const MPI_Datatype *t, void *b, const int *m, const MPI_Aint *q,
       const MPI_Datatype *u, MPI_Comm c),
      (a, n, p, t, b, m, q, u, c))
AWARE(Pack, (const void *a, int n, MPI_Datatype t, void *b, int m, int *u, MPI_Comm c), (a, n, t, b, m, u, c))
AWARE(Unpack, (const void *a, int n, int *u, void *b, int m, MPI_Datatype t, MPI_Comm c), (a, n, u, b, m, t, c))
