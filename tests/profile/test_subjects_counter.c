/* Counts calls of MPI, and the bytes a rank sends, of programs that someone else wrote: what a profile is compared
   with. It shares nothing with the recorder. Preloaded; COUNT is the path it writes to, with the rank behind it. C
   functions know their bytes (count x size of the type, as passed); Fortran ones are only counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNTED(X)                                                                                                     \
    X(Allreduce)                                                                                                       \
    X(Alltoall)                                                                                                        \
    X(Alltoallw)                                                                                                       \
    X(Barrier) X(Bcast) X(Gather) X(Irecv) X(Isend) X(Recv) X(Reduce) X(Scan) X(Send) X(Sendrecv) X(Wait) X(Waitall)

#define NAME(name) name##_,
enum { COUNTED(NAME) FUNCTIONS };
#define TEXT(name) "MPI_" #name,
static const char *const names[] = {COUNTED(TEXT)};
static long calls[FUNCTIONS], bytes[FUNCTIONS];

static void count(int function, int items, MPI_Datatype type)
{
    int size = 0;
    if (items > 0)
        PMPI_Type_size(type, &size);
    calls[function]++;
    bytes[function] += (long)items * size;
}

#define C(name, items, type, parameters, arguments)                                                                    \
    int MPI_##name parameters                                                                                          \
    {                                                                                                                  \
        count(name##_, items, type);                                                                                   \
        return PMPI_##name arguments;                                                                                  \
    }

C(Allreduce, n, t, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (s, r, n, t, o, c))
C(Alltoall, n, t, (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, MPI_Comm c),
  (s, n, t, r, m, u, c))
C(Barrier, 0, MPI_BYTE, (MPI_Comm c), (c))
C(Bcast, n, t, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
C(Gather, n, t, (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, int root, MPI_Comm c),
  (s, n, t, r, m, u, root, c))
C(Irecv, n, t, (void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *q), (b, n, t, d, g, c, q))
C(Isend, n, t, (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *q), (b, n, t, d, g, c, q))
C(Recv, n, t, (void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Status *s), (b, n, t, d, g, c, s))
C(Reduce, n, t, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
  (s, r, n, t, o, root, c))
C(Scan, n, t, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (s, r, n, t, o, c))
C(Send, n, t, (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c), (b, n, t, d, g, c))
C(Sendrecv, n, t,
  (const void *b, int n, MPI_Datatype t, int d, int g, void *e, int m, MPI_Datatype u, int f, int h, MPI_Comm c,
   MPI_Status *s),
  (b, n, t, d, g, e, m, u, f, h, c, s))
C(Wait, 0, MPI_BYTE, (MPI_Request * q, MPI_Status *s), (q, s))
C(Waitall, 0, MPI_BYTE, (int n, MPI_Request *q, MPI_Status *s), (n, q, s))
C(Alltoallw, 0, MPI_BYTE,
  (const void *s, const int *n, const int *x, const MPI_Datatype *t, void *r, const int *m, const int *y,
   const MPI_Datatype *u, MPI_Comm c),
  (s, n, x, t, r, m, y, u, c))

/* Every argument of these is a pointer, and none has more than twelve. */
#define FORTRAN(name, symbol)                                                                                          \
    void symbol(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j, void *k,     \
                void *l)                                                                                               \
    {                                                                                                                  \
        void (*next)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);  \
        *(void **)&next = dlsym(RTLD_NEXT, #symbol);                                                                   \
        calls[name##_]++;                                                                                              \
        next(a, b, c, d, e, f, g, h, i, j, k, l);                                                                      \
    }

FORTRAN(Allreduce, mpi_allreduce_)
FORTRAN(Alltoall, mpi_alltoall_)
FORTRAN(Barrier, mpi_barrier_)
FORTRAN(Bcast, mpi_bcast_)
FORTRAN(Gather, mpi_gather_)
FORTRAN(Recv, mpi_recv_)
FORTRAN(Reduce, mpi_reduce_)
FORTRAN(Send, mpi_send_)

__attribute__((destructor)) static void write_counts(void)
{
    const char *prefix = getenv("COUNT"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    char path[4096];
    if (prefix == NULL || rank == NULL)
        return;
    snprintf(path, sizeof path, "%s.%s", prefix, rank);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return;
    for (int i = 0; i < FUNCTIONS; i++)
        fprintf(file, "%s %ld %ld\n", names[i], calls[i], bytes[i]);
    fclose(file);
}
