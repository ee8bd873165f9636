#include "group.h"

/* Segments on their way at once, in and out; and the most children. */
enum { WINDOW = 4, MOST = 8 };

struct pipeline {
    const struct group *group;
    char *data;
    int64_t bytes, segment;
    int segments, parent, children[MOST], count;
    MPI_Request in[WINDOW], out[WINDOW][MOST];
};

static int64_t length(const struct pipeline *pipeline, int segment)
{
    int64_t left = pipeline->bytes - segment * pipeline->segment;
    return left < pipeline->segment ? left : pipeline->segment;
}

static int receive(struct pipeline *pipeline, int segment)
{
    if (segment >= pipeline->segments)
        return MPI_SUCCESS;
    return fabric_start_receive(&pipeline->group->comm->fabric, pipeline->data + segment * pipeline->segment,
                                length(pipeline, segment), pipeline->parent, pipeline->group->tag,
                                &pipeline->in[segment % WINDOW]);
}

static int pass_on(struct pipeline *pipeline, int segment)
{
    MPI_Request *out = pipeline->out[segment % WINDOW];
    int error = fabric_wait(&pipeline->group->comm->fabric, pipeline->count, out);
    for (int i = 0; i < pipeline->count && error == MPI_SUCCESS; i++)
        error = fabric_start_send(&pipeline->group->comm->fabric, pipeline->data + segment * pipeline->segment,
                                  length(pipeline, segment), pipeline->children[i], pipeline->group->tag, &out[i]);
    return error;
}

static void set_tree(struct pipeline *pipeline, int root, int children)
{
    const struct group *group = pipeline->group;
    int size = group->size, place = (group->me - root + size) % size;
    pipeline->parent = place == 0 ? -1 : group_rank(group, ((place - 1) / children + root) % size);
    for (int i = 1; i <= children && (int64_t)place * children + i < size; i++)
        pipeline->children[pipeline->count++] = group_rank(group, (place * children + i + root) % size);
    for (int i = 0; i < WINDOW; i++) {
        pipeline->in[i] = MPI_REQUEST_NULL;
        for (int k = 0; k < MOST; k++)
            pipeline->out[i][k] = MPI_REQUEST_NULL;
    }
}

int group_bcast_pipeline(const struct group *group, int root, void *data, int64_t bytes, int64_t segment, int children,
                         const struct arrival *arrival)
{
    struct pipeline pipeline = {.group = group, .data = data, .bytes = bytes, .segment = segment};
    pipeline.segments = (int)((bytes + segment - 1) / segment);
    set_tree(&pipeline, root, children);
    int error = MPI_SUCCESS;
    for (int i = 0; i < WINDOW && error == MPI_SUCCESS; i++)
        error = receive(&pipeline, i);
    for (int i = 0; i < pipeline.segments && error == MPI_SUCCESS; i++) {
        error = fabric_wait(&group->comm->fabric, 1, &pipeline.in[i % WINDOW]);
        if (error == MPI_SUCCESS)
            error = receive(&pipeline, i + WINDOW);
        if (error == MPI_SUCCESS)
            error = pass_on(&pipeline, i);
        if (error == MPI_SUCCESS)
            error = arrival_tell(arrival, i);
    }
    for (int i = 0; i < WINDOW && error == MPI_SUCCESS; i++)
        error = fabric_wait(&group->comm->fabric, pipeline.count, pipeline.out[i]);
    return error;
}
