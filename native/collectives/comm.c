#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collectives.h"
#include "failure.h"
#include "node/crowd.h"
#include "node/domains.h"
#include "node/node.h"

struct scratch {
    void *memory[SCRATCHES];
    int64_t bytes[SCRATCHES];
    bool grown; /* since the last call */
};

/* Of all communicators of this process, so that large messages one after the other find it: as much as the pieces of a
   reduction take. More is given back after the call. */
static const int64_t kept_most = INT64_C(18) << 20;
static _Atomic int64_t kept;

/* From here on memory is the system's own: what is given back is gone at once, whatever malloc() would keep. */
static const int64_t own_pages_from = 128 << 10;

/* What is usual for cores of one socket and for a network of 100 Gbit/s, until something was measured. */
static const double usual_node_latency = 0.2e-6, usual_node_byte = 1 / 8e9;
static const double usual_fabric_latency = 2e-6, usual_fabric_byte = 1 / 10e9;

static void give_back(struct scratch *scratch, int which)
{
    if (scratch->bytes[which] < own_pages_from)
        free(scratch->memory[which]);
    else
        munmap(scratch->memory[which], (size_t)scratch->bytes[which]);
    kept -= scratch->bytes[which];
    scratch->memory[which] = NULL;
    scratch->bytes[which] = 0;
}

void *coll_scratch(struct coll_comm *comm, int which, int64_t bytes)
{
    struct scratch *scratch = comm->scratch;
    if (bytes <= scratch->bytes[which])
        return scratch->memory[which];
    int64_t page = sysconf(_SC_PAGESIZE), rounded = (bytes + page - 1) / page * page;
    give_back(scratch, which);
    void *memory = NULL;
    if (rounded < own_pages_from)
        memory = aligned_alloc((size_t)page, (size_t)rounded);
    else if ((memory = mmap(NULL, (size_t)rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) == MAP_FAILED)
        memory = NULL;
    if (memory == NULL)
        return NULL;
    scratch->memory[which] = memory;
    scratch->bytes[which] = rounded;
    scratch->grown = true;
    kept += rounded;
    return memory;
}

void coll_scratch_trim(struct coll_comm *comm)
{
    struct scratch *scratch = comm->scratch;
    if (__builtin_expect(!scratch->grown, true))
        return;
    scratch->grown = false;
    for (int i = 0; i < SCRATCHES && kept > kept_most; i++)
        give_back(scratch, i);
}

/* What each rank does by itself. */
static bool prepare(struct coll_comm *comm, MPI_Comm user)
{
    comm->scratch = calloc(1, sizeof *comm->scratch);
    comm->fabric.failure = failure_create();
    return comm->scratch != NULL && comm->fabric.failure != NULL && topology_create(&comm->topology, user);
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
        failure_listen(comm->fabric.failure, comm->comm);
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
    failure_free(comm->fabric.failure);
    if (comm->comm != MPI_COMM_NULL && comm->ranks > 0)
        PMPI_Comm_free(&comm->comm);
    if (comm->scratch != NULL)
        for (int i = 0; i < SCRATCHES; i++)
            give_back(comm->scratch, i);
    free(comm->scratch);
    topology_free(&comm->topology);
    free(comm);
}
