#include <stdlib.h>
#include <unistd.h>

#include "collectives.h"
#include "node/crowd.h"
#include "node/domains.h"
#include "node/node.h"

struct scratch {
    void *memory[SCRATCHES];
    int64_t bytes[SCRATCHES];
};

/* What is usual for cores of one socket and for a network of 100 Gbit/s, until something was measured. */
static const double usual_node_latency = 0.2e-6, usual_node_byte = 1 / 8e9;
static const double usual_fabric_latency = 2e-6, usual_fabric_byte = 1 / 10e9;

void *coll_scratch(struct coll_comm *comm, int which, int64_t bytes)
{
    struct scratch *scratch = comm->scratch;
    if (bytes <= scratch->bytes[which])
        return scratch->memory[which];
    int64_t page = sysconf(_SC_PAGESIZE), rounded = (bytes + page - 1) / page * page;
    void *memory = aligned_alloc((size_t)page, (size_t)rounded);
    if (memory == NULL)
        return NULL;
    free(scratch->memory[which]);
    scratch->memory[which] = memory;
    scratch->bytes[which] = rounded;
    return memory;
}

void coll_scratch_free(struct coll_comm *comm, int which)
{
    free(comm->scratch->memory[which]);
    comm->scratch->memory[which] = NULL;
    comm->scratch->bytes[which] = 0;
}

/* What each rank does by itself. */
static bool prepare(struct coll_comm *comm, MPI_Comm user)
{
    comm->scratch = calloc(1, sizeof *comm->scratch);
    return comm->scratch != NULL && topology_create(&comm->topology, user);
}

int coll_comm_create(MPI_Comm user, struct coll_comm **made)
{
    *made = NULL;
    struct coll_comm *comm = calloc(1, sizeof *comm);
    enum { GOOD, ROOMY };
    int mine[] = {[GOOD] = comm != NULL && prepare(comm, user), [ROOMY] = !crowd()}, all[] = {0, 0};
    int error = PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, user);
    if (error == MPI_SUCCESS && !all[GOOD])
        error = MPI_ERR_NO_MEM;
    if (error == MPI_SUCCESS) {
        comm->crowded = !all[ROOMY];
        comm->comm = MPI_COMM_NULL;
        comm->rank = comm->topology.rank;
        comm->ranks = comm->topology.ranks;
        comm->costs.node_latency = usual_node_latency;
        comm->costs.node_byte = usual_node_byte;
        comm->costs.fabric_latency = usual_fabric_latency;
        comm->costs.fabric_byte = usual_fabric_byte;
        /* Not a dup: that would run the attribute callbacks of the program. */
        error = PMPI_Comm_split(user, 0, comm->rank, &comm->comm);
    }
    if (error == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(comm->comm, MPI_ERRORS_RETURN);
        comm->fabric.comm = comm->comm;
        error = node_create(comm);
    }
    if (error != MPI_SUCCESS) {
        coll_comm_free(comm);
        return error;
    }
    *made = comm;
    return MPI_SUCCESS;
}

void coll_comm_free(struct coll_comm *comm)
{
    if (comm == NULL)
        return;
    domains_free(comm);
    if (comm->node != NULL)
        node_free(comm);
    if (comm->comm != MPI_COMM_NULL && comm->ranks > 0)
        PMPI_Comm_free(&comm->comm);
    if (comm->scratch != NULL)
        for (int i = 0; i < SCRATCHES; i++)
            free(comm->scratch->memory[i]);
    free(comm->scratch);
    topology_free(&comm->topology);
    free(comm);
}
