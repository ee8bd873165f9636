#include "manners.h"

/* MPICH does not look at counts and at datatypes of reductions by itself, and crashes. */
#ifdef MPICH
static const int kinds[] = {0, 3};
#else
static const int kinds[] = {0, 1, 2, 3};
#endif

static MPI_Errhandler own;
static _Thread_local int told, last;

static void tell(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    told++;
    PMPI_Error_class(*error, &last);
}

void manners_start(void)
{
    PMPI_Comm_create_errhandler(tell, &own);
}

void manners_end(void)
{
    PMPI_Errhandler_free(&own);
}

void manners_draw(struct trial *trial)
{
    PMPI_Comm_set_errhandler(trial->comm, random_one_in(&trial->own, 2) ? own : MPI_ERRORS_RETURN);
    told = 0;
    trial->tally->of[DRAWN_RETURNING]++;
}

void manners_restore(struct trial *trial)
{
    PMPI_Comm_set_errhandler(trial->comm, MPI_ERRORS_ARE_FATAL);
}

static int forbidden(const struct trial *trial, int kind, int way)
{
    int here[2] = {0}, there[2] = {0};
    if (kind == 0)
        return way == 0 ? MPI_Bcast(here, 1, MPI_INT, trial->ranks, trial->comm)
                        : PMPI_Bcast(here, 1, MPI_INT, trial->ranks, trial->comm);
    if (kind == 1)
        return way == 0 ? MPI_Allreduce(here, there, -1, MPI_INT, MPI_SUM, trial->comm)
                        : PMPI_Allreduce(here, there, -1, MPI_INT, MPI_SUM, trial->comm);
    if (kind == 2)
        return way == 0 ? MPI_Reduce(here, there, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, trial->comm)
                        : PMPI_Reduce(here, there, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, trial->comm);
    return way == 0 ? MPI_Allreduce(here, there, 1, MPI_INT, MPI_OP_NULL, trial->comm)
                    : PMPI_Allreduce(here, there, 1, MPI_INT, MPI_OP_NULL, trial->comm);
}

bool manners_mistake(struct trial *trial)
{
    int kind = kinds[random_below(&trial->shared, sizeof kinds / sizeof *kinds)], class[2], times[2], heard[2];
    if (trial->ranks == 1) /* one rank may not look at its arguments */
        return true;
    trial->tally->of[DRAWN_ERRORS]++;
    for (int way = 0; way < 2; way++) {
        told = 0, last = MPI_SUCCESS;
        PMPI_Error_class(forbidden(trial, kind, way), &class[way]);
        times[way] = told, heard[way] = last;
    }
    told = 0;
    /* MPICH 5 returns MPI_SUCCESS where a handler of the program was told. */
    bool noticed = class[0] != MPI_SUCCESS || times[0] > 0;
    return noticed && class[0] == class[1] && times[0] == times[1] && heard[0] == heard[1];
}
