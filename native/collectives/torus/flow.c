#include "flow.h"

#include <stdlib.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t cut_up(int64_t bytes, int64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

int64_t stream_segments(const struct stream *stream)
{
    int64_t chunk = stream->segment * stream->of;
    return (stream->bytes + chunk - 1) / chunk;
}

int64_t stream_at(const struct stream *stream, int64_t number, int64_t *bytes)
{
    int64_t chunk = stream->segment * stream->of, base = number * chunk, here = least(chunk, stream->bytes - base);
    int64_t part = cut_up((here + stream->of - 1) / stream->of, stream->unit);
    int64_t from = least(stream->index * part, here), to = least(from + part, here);
    *bytes = to - from;
    return base + from;
}

/* What a segment has under way, by slot: one from the parent, one to it, then from and to each child. */
static MPI_Request *slot(const struct stream *stream, int64_t number)
{
    return stream->requests + (number % FLOW_WINDOW) * (2 + 2 * stream->child_count);
}

enum { FROM_PARENT, TO_PARENT, CHILDREN };

static bool idle(const MPI_Request *requests, int count)
{
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            return false;
    return true;
}

static char *arriving(const struct stream *stream, int64_t number, int child)
{
    return stream->arriving + (number % FLOW_WINDOW * stream->child_count + child) * stream->segment;
}

/* Takes one segment from the children, if all of it has come; -1: not yet. */
static int rise(struct fabric *fabric, struct stream *stream)
{
    int64_t number = stream->up_done, bytes, at = stream_at(stream, number, &bytes);
    MPI_Request *requests = slot(stream, number);
    if (number >= least(stream->up_posted, stream->offered) || !idle(requests + CHILDREN, stream->child_count) ||
        requests[TO_PARENT] != MPI_REQUEST_NULL)
        return -1;
    for (int i = 0; i < stream->child_count && bytes > 0; i++)
        stream->reduction->combine(stream->reduction, stream->data + at, arriving(stream, number, i), stream->data + at,
                                   bytes / stream->reduction->element);
    stream->up_done++;
    if (stream->parent < 0)
        return MPI_SUCCESS;
    return fabric_start_send(fabric, stream->data + at, bytes, stream->parent, stream->tag, &requests[TO_PARENT]);
}

static int expect_from_children(struct fabric *fabric, struct stream *stream)
{
    int64_t number = stream->up_posted, bytes;
    if (number >= least(stream->segments, stream->up_done + FLOW_WINDOW))
        return -1;
    MPI_Request *requests = slot(stream, number);
    int error = MPI_SUCCESS;
    stream_at(stream, number, &bytes);
    for (int i = 0; i < stream->child_count && error == MPI_SUCCESS; i++)
        error = fabric_start_receive(fabric, arriving(stream, number, i), bytes, stream->children[i], stream->tag,
                                     &requests[CHILDREN + i]);
    stream->up_posted++;
    return error;
}

/* A segment is expected from above only when what went up from the same memory has left. */
static int expect_from_parent(struct fabric *fabric, struct stream *stream)
{
    int64_t number = stream->down_posted, bytes, at = stream_at(stream, number, &bytes);
    if (stream->parent < 0 || number >= least(stream->segments, stream->down_done + FLOW_WINDOW))
        return -1;
    MPI_Request *requests = slot(stream, number);
    if (stream->reduction != NULL && (number >= stream->up_done || (stream->up_done - number <= FLOW_WINDOW &&
                                                                    requests[TO_PARENT] != MPI_REQUEST_NULL)))
        return -1;
    stream->down_posted++;
    return fabric_start_receive(fabric, stream->data + at, bytes, stream->parent, stream->tag + 1,
                                &requests[FROM_PARENT]);
}

/* Passes one segment on; -1: it has not come, or the slot's last messages have not left. */
static int fall(struct fabric *fabric, struct stream *stream)
{
    int64_t number = stream->down_done, bytes, at = stream_at(stream, number, &bytes);
    int64_t there = stream->parent >= 0 ? stream->down_posted : stream->reduction ? stream->up_done : stream->offered;
    MPI_Request *requests = slot(stream, number);
    if (number >= least(there, stream->segments) || requests[FROM_PARENT] != MPI_REQUEST_NULL ||
        !idle(requests + CHILDREN + stream->child_count, stream->child_count))
        return -1;
    int error = MPI_SUCCESS;
    for (int i = 0; i < stream->child_count && error == MPI_SUCCESS; i++)
        error = fabric_start_send(fabric, stream->data + at, bytes, stream->children[i], stream->tag + 1,
                                  &requests[CHILDREN + stream->child_count + i]);
    stream->down_done++;
    return error;
}

/* All that can be done without waiting. */
static int move(struct flow *flow)
{
    int error = MPI_SUCCESS;
    for (bool moved = true; moved && error == MPI_SUCCESS;) {
        moved = false;
        for (int i = 0; i < flow->count && error == MPI_SUCCESS; i++) {
            struct stream *stream = &flow->streams[i];
            int (*const steps[])(struct fabric *, struct stream *) = {expect_from_children, rise, expect_from_parent,
                                                                      fall};
            for (int k = stream->reduction == NULL ? 2 : 0; k < 4 && error == MPI_SUCCESS; k++) {
                int done = steps[k](flow->fabric, stream);
                moved = moved || done >= 0;
                error = done > 0 ? done : error;
            }
        }
    }
    return error;
}

int flow_begin(struct flow *flow, struct fabric *fabric, struct stream *streams, int count)
{
    *flow = (struct flow){.fabric = fabric, .streams = streams, .count = count};
    for (int i = 0; i < count; i++)
        flow->request_count += FLOW_WINDOW * (2 + 2 * streams[i].child_count);
    flow->requests = malloc((size_t)(flow->request_count + 1) * sizeof *flow->requests);
    if (flow->requests == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < flow->request_count; i++)
        flow->requests[i] = MPI_REQUEST_NULL;
    MPI_Request *next = flow->requests;
    for (int i = 0; i < count; i++) {
        struct stream *stream = &streams[i];
        stream->requests = next;
        next += FLOW_WINDOW * (2 + 2 * stream->child_count);
        stream->segments = stream_segments(stream);
        stream->offered = stream->up_posted = stream->up_done = stream->down_posted = stream->down_done = 0;
    }
    return move(flow);
}

void flow_offer(struct flow *flow, int64_t segments)
{
    for (int i = 0; i < flow->count; i++)
        flow->streams[i].offered = least(segments, flow->streams[i].segments);
}

static bool reached(const struct flow *flow, int64_t segments)
{
    for (int i = 0; i < flow->count; i++)
        if (flow->streams[i].down_done < least(segments, flow->streams[i].segments))
            return false;
    return true;
}

int flow_until(struct flow *flow, int64_t segments)
{
    int error = move(flow), index = 0;
    while (error == MPI_SUCCESS && !reached(flow, segments)) {
        error = fabric_wait_any(flow->fabric, flow->request_count, flow->requests, &index);
        if (error == MPI_SUCCESS)
            error = index < 0 ? MPI_ERR_INTERN : move(flow);
    }
    for (index = 0; error == MPI_SUCCESS && index >= 0 && flow->request_count > 0;) {
        error = fabric_test_any(flow->fabric, flow->request_count, flow->requests, &index);
        if (error == MPI_SUCCESS && index >= 0)
            error = move(flow);
    }
    return error;
}

int flow_end(struct flow *flow, int error)
{
    if (flow->requests == NULL)
        return error;
    for (int i = 0; i < flow->count && error == MPI_SUCCESS; i++)
        error = flow_until(flow, flow->streams[i].segments);
    if (error == MPI_SUCCESS)
        error = fabric_wait(flow->fabric, flow->request_count, flow->requests);
    free(flow->requests);
    flow->requests = NULL;
    return error;
}
