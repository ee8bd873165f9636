/* Whether what is counted (crossing.h) is what algorithms send: their messages are caught on their way to the MPI library, and the
 * bytes to nodes of other groups added up over all ranks.
 *
 *     UNISONO_FAKE_NODES=1 UNISONO_TOPOLOGY=FILE mpirun -n 6 crossing_sent    a line for each; status 1: one is not as counted
 *
 * Every rank is a node. Vectors can be cut into equal parts, so that nothing is rounded. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives.h"
#include "node/copy.h"
#include "reduction.h"

enum { PARTS = 64 * 1024 };

static struct coll_comm *comm;
static bool counts;
static double crossed;

int __real_PMPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on);
int __real_PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on,
                      MPI_Request *request);
int __wrap_PMPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on);
int __wrap_PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on,
                      MPI_Request *request);

static void add(int count, MPI_Datatype type, int to)
{
    int size;
    if (!counts)
        return;
    const struct places *places = comm->topology.places;
    PMPI_Type_size(type, &size);
    int mine = places->place[comm->topology.node], other = places->place[comm->topology.node_of[to]];
    crossed += places->group[0][mine] != places->group[0][other] ? (double)count * size : 0;
}

int __wrap_PMPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on)
{
    add(count, type, to);
    return __real_PMPI_Send(data, count, type, to, tag, on);
}

int __wrap_PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm on,
                      MPI_Request *request)
{
    add(count, type, to);
    return __real_PMPI_Isend(data, count, type, to, tag, on, request);
}

/* Of these the size is that of a rank's block. */
static bool is_by_rank(enum collective collective)
{
    return collective == COLL_ALLGATHER || collective == COLL_REDUCE_SCATTER_BLOCK;
}

/* 1: not as it was counted. */
static int try(const struct algorithm *algorithm, bool commutative)
{
    const int64_t bytes = (int64_t)PARTS * comm->ranks, own = is_by_rank(algorithm->collective) ? PARTS : bytes;
    const struct shape shape = {.bytes = own, .element = 8, .commutative = commutative};
    struct call call = {.collective = algorithm->collective, .bytes = own, .count = own / 8};
    int64_t *table = calloc(2 * (size_t)comm->ranks, sizeof *table);
    for (int rank = 0; rank < comm->ranks; rank++) {
        table[rank] = PARTS;
        table[comm->ranks + rank] = (int64_t)rank * PARTS;
    }
    call.send_bytes = table, call.send_at = table + comm->ranks;
    if (algorithm->crosses == NULL || !algorithm_applies(algorithm, comm, &shape)) {
        free(table);
        return 0;
    }
    call.send = calloc((size_t)bytes, 1);
    call.receive = calloc((size_t)bytes, 1);
    reduction_set(&call.reduction, MPI_DOUBLE, MPI_SUM);
    call.reduction.commutative = commutative;
    crossed = 0;
    counts = true;
    int error = algorithm_run(algorithm, comm, &call, 0);
    counts = false;
    double sent = 0, expected = algorithm_crosses(algorithm, comm, &shape).total;
    PMPI_Allreduce(&crossed, &sent, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    bool right = error == MPI_SUCCESS && fabs(sent - expected) < 1;
    if (comm->rank == 0)
        printf("%-26s %-16s sent %12.0f  counted %12.0f  %s\n", algorithm->name, commutative ? "" : "not commutative",
               sent, expected, right ? "right" : "WRONG");
    free((void *)(uintptr_t)call.send);
    free(call.receive);
    free(table);
    return !right;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    PMPI_Init(&argc, &argv);
    copy_agree_on_cache(copy_last_cache());
    copy_agree_on_own_cache(copy_own_cache_here());
    if (topology_start() != MPI_SUCCESS || coll_comm_create(MPI_COMM_WORLD, &comm) != MPI_SUCCESS ||
        comm->topology.places == NULL || comm->topology.nodes != comm->ranks) {
        fprintf(stderr, "UNISONO_FAKE_NODES=1 UNISONO_TOPOLOGY=FILE mpirun -n N crossing_sent\n");
        PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; algorithm_at(i) != NULL; i++) {
        if (algorithm_at(i)->collective == COLL_ALLGATHERV)
            continue; /* as allgather */
        wrong += try(algorithm_at(i), true);
        wrong += collective_reduces(algorithm_at(i)->collective) ? try(algorithm_at(i), false) : 0;
    }
    coll_comm_free(comm);
    topology_end();
    PMPI_Finalize();
    return wrong > 0;
}
