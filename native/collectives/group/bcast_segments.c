#include "bcast_segments.h"

#include "nodes.h"

struct context {
    struct coll_comm *comm;
    char *data;
    int64_t bytes, segment;
    int leader;
};

static int to_node(void *given, int segment)
{
    const struct context *context = given;
    int64_t at = segment * context->segment, left = context->bytes - at;
    return node_bcast(context->comm, context->leader, context->data + at,
                      left < context->segment ? left : context->segment);
}

int bcast_segments(struct coll_comm *comm, const struct call *call, int64_t segment, int children)
{
    const struct topology *topology = &comm->topology;
    struct group leaders = group_near(comm, topology->local_of[call->root]);
    struct context context = {comm, call->receive, call->bytes, segment, leaders.lane % topology->locals};
    struct arrival arrival = {to_node, &context};
    if (leaders.me >= 0)
        return group_bcast_pipeline(&leaders, group_of_node(&leaders, topology->node_of[call->root]), call->receive,
                                    call->bytes, segment, children, topology->locals > 1 ? &arrival : NULL);
    int error = MPI_SUCCESS;
    for (int i = 0; i * segment < call->bytes && error == MPI_SUCCESS; i++)
        error = to_node(&context, i);
    return error;
}
