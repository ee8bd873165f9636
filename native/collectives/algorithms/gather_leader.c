#include "../group/rooted.h"

static int run(struct coll_comm *comm, const struct call *call, int64_t segment)
{
    (void)segment;
    const struct topology *topology = &comm->topology;
    struct group leaders = group_lane(comm, topology->local_of[call->root]);
    int root = topology->node_of[call->root], local = leaders.lane % topology->locals;
    if (leaders.me < 0)
        return node_gather(comm, local, call->send, NULL, call->bytes, NULL, NULL);
    char *work = coll_scratch(comm, SCRATCH_WORK, comm->ranks * call->bytes + 1);
    int64_t *starts = rooted_starts(topology, root, call->bytes);
    int error = work == NULL || starts == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (error == MPI_SUCCESS)
        error = node_gather(comm, local, call->send, work + starts[rooted_place(topology, root, topology->node)],
                            call->bytes, NULL, NULL);
    if (error == MPI_SUCCESS)
        error = group_gather_tree(&leaders, root, work, starts);
    if (error == MPI_SUCCESS && comm->rank == call->root)
        rooted_sort(topology, root, call->bytes, call->receive, work, true);
    free(starts);
    return error;
}

const struct algorithm gather_leader = {
    .name = "gather_leader",
    .collective = COLL_GATHER,
    .meaning = "Gathered on each node, then up a binomial tree of one rank of each.",
    .reference = "Graham et al., Cheetah: a framework for scalable hierarchical collective operations (2011)",
    .applies = rooted_applies,
    .cost = rooted_tree_cost,
    .scratch = scratch_all,
    .run = run,
};
