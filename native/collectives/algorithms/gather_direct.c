#include "../group/rooted.h"

/* The ranks of the root's node share memory; the others' messages come meanwhile. */
static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    const struct topology *topology = &comm->topology;
    if (topology->node != topology->node_of[call->root])
        return fabric_send(&comm->fabric, call->send, call->bytes, call->root, FABRIC_DATA);
    struct rooted_others others;
    int error = rooted_start(&others, comm, call);
    if (error == MPI_SUCCESS)
        error =
            node_gather(comm, topology->local_of[call->root], call->send, call->receive, 0, others.bytes, others.at);
    return rooted_end(&others, comm, call, error);
}

const struct algorithm gather_direct = {
    .name = "gather_direct",
    .collective = COLL_GATHER,
    .meaning = "On the root's node in shared memory; every rank of another node sends its block to the root itself.",
    .reference = "",
    .applies = rooted_applies,
    .cost = rooted_direct_cost,
    .run = run,
};
