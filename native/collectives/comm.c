#include <stdlib.h>

#include "failure.h"
#include "node/domains.h"
#include "node/node.h"
#include "node/posts.h"
#include "node/pull.h"
#include "peers.h"
#include "scratch.h"

enum { NO_SLOT = -1 };

/* What is usual for cores of one socket and for a network of 100 Gbit/s, until something was measured. */
static const double usual_node_latency = 0.2e-6, usual_node_byte = 1 / 8e9;
static const double usual_fabric_latency = 2e-6, usual_fabric_byte = 1 / 10e9, usual_fabric_message = 0.2e-6;

/* What needs no other rank: its memory. */
static struct coll_comm *allocate(void)
{
    struct coll_comm *comm = calloc(1, sizeof *comm);
    if (comm != NULL && (comm->scratch = scratch_new()) != NULL)
        return comm;
    free(comm);
    return NULL;
}

/* Whether every node with several ranks shares memory. */
static bool shares(const struct peers *peers, const struct coll_comm *comm)
{
#ifdef UNISONO_SIMULATED
    (void)peers, (void)comm;
    return true; /* or what there is instead */
#else
    return comm->topology.most == 1 || peers_have_lines(peers, comm->slot);
#endif
}

static void belong(struct coll_comm *comm, struct peers *peers, int slot)
{
    comm->peers = peers;
    comm->peers->users++;
    comm->slot = slot;
    comm->topology = comm->peers->topology;
    comm->rank = comm->topology.rank;
    comm->ranks = comm->topology.ranks;
    comm->costs.node_latency = usual_node_latency;
    comm->costs.node_byte = usual_node_byte;
    pull_costs(&comm->costs);
    comm->costs.fabric_latency = usual_fabric_latency;
    comm->costs.fabric_byte = usual_fabric_byte;
    comm->costs.fabric_message = usual_fabric_message;
}

int coll_comm_join(struct peers **peers, MPI_Comm user, int64_t lived, struct coll_comm **made)
{
    struct coll_comm *comm = allocate();
    int slot, error = peers_join(peers, user, comm != NULL, lived, &slot);
    *made = NULL;
    if (error != MPI_SUCCESS || slot < 0) {
        if (comm != NULL)
            scratch_free(comm->scratch);
        free(comm);
        return error;
    }
    belong(comm, *peers, slot);
    comm->comm = comm->peers->comm;
    comm->crowded = comm->peers->crowded;
    comm->fabric = (struct fabric){.comm = comm->comm,
                                   .failure = comm->peers->failure,
                                   .tags = slot * FABRIC_TAGS,
                                   .survives = failure_tolerated()};
    comm->served = shares(comm->peers, comm);
    node_create(comm, comm->peers, slot);
    *made = comm;
    return MPI_SUCCESS;
}

int coll_comm_create(MPI_Comm user, struct coll_comm **made)
{
    struct peers *peers = peers_find(user);
    *made = NULL;
    if (peers == NULL)
        return MPI_ERR_NO_MEM;
    int error = coll_comm_join(&peers, user, PEERS_NOW, made);
    peers_leave(peers);
    return error;
}

struct coll_comm *coll_comm_alone(struct peers *peers)
{
    struct coll_comm *comm = allocate();
    struct failure *failure = failure_create();
    if (comm == NULL || failure == NULL) {
        if (comm != NULL)
            scratch_free(comm->scratch);
        free(comm);
        failure_free(failure);
        return NULL;
    }
    belong(comm, peers, NO_SLOT);
    /* Of others it hears through the memory; what the MPI library still has to do it does at any look for a message. */
    comm->comm = MPI_COMM_SELF;
    comm->fabric = (struct fabric){.comm = comm->comm, .failure = failure};
    comm->served = true;
    node_alone(comm);
    return comm;
}

void coll_comm_free(struct coll_comm *comm)
{
    if (comm == NULL)
        return;
    domains_free(comm);
    posts_free(comm);
    if (comm->slot != NO_SLOT)
        peers_give(comm->peers, comm->slot, comm->node->step, comm->node->known);
    else
        failure_free(comm->fabric.failure);
    node_free(comm);
    peers_leave(comm->peers);
    scratch_free(comm->scratch);
    free(comm->rounds);
    free(comm);
}
