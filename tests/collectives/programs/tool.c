/* A tool as profilers of MPI are: it takes some functions, counts, and goes on by PMPI_. In C, and in Fortran as the
 * bindings of Open MPI need it. With -DASIDE it goes on past everybody, to the MPI library that it finds itself; with
 * -DNEXT to whoever defines the same function after it, as EZTrace does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

enum { ALLREDUCE, BCAST, SEND, DUP, PCONTROL, INITS, KINDS };
static const char *const names[KINDS] = {"allreduce", "bcast", "send", "dup", "pcontrol", "init"};
static int calls[KINDS];

#ifdef ASIDE
static void *aside(const char *name)
{
    static void *mpi;
    if (mpi == NULL)
        mpi = dlopen(ASIDE, RTLD_LAZY);
    return dlsym(mpi, name);
}
#define GO(name, ...) (((__typeof__(&MPI_##name))aside("PMPI_" #name))(__VA_ARGS__))
#elif defined NEXT
#define GO(name, ...) (((__typeof__(&MPI_##name))dlsym(RTLD_NEXT, "MPI_" #name))(__VA_ARGS__))
#else
#define GO(name, ...) PMPI_##name(__VA_ARGS__)
#endif

int MPI_Init(int *argc, char ***argv)
{
    calls[INITS]++;
    return GO(Init, argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    calls[INITS]++;
    return GO(Init_thread, argc, argv, required, provided);
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    calls[ALLREDUCE]++;
    return GO(Allreduce, send, receive, count, type, op, comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    calls[BCAST]++;
    return GO(Bcast, buffer, count, type, root, comm);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm)
{
    calls[SEND]++;
    return GO(Send, buffer, count, type, peer, tag, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    calls[DUP]++;
    return GO(Comm_dup, comm, made);
}

int MPI_Pcontrol(const int level, ...)
{
    (void)level;
    calls[PCONTROL]++;
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    int sum[KINDS], rank;
    const int alone = getenv("TOOL_ALONE") != NULL; /* no other rank has it */
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!alone)
        GO(Reduce, calls, sum, KINDS, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int kind = 0; (rank == 0 || alone) && kind < KINDS; kind++)
        printf("tool: %s %d\n", names[kind], alone ? calls[kind] : sum[kind]);
    return GO(Finalize);
}

#ifdef OPEN_MPI
extern int mpi_fortran_in_place_ __attribute__((weak)); /* not there in a program in C */

void mpi_allreduce_(void *send, void *receive, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm,
                    MPI_Fint *error)
{
    if (send == (void *)&mpi_fortran_in_place_)
        send = MPI_IN_PLACE;
    *error = MPI_Allreduce(send, receive, *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm));
}

void mpi_finalize_(MPI_Fint *error)
{
    *error = MPI_Finalize();
}
#endif
