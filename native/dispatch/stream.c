#include "stream.h"

#include <string.h>

#include "pack.h"

/* A part begins with the rest of an element, goes on with whole ones and ends with the beginning of one. What is cut lies
 * packed in `spare`: its sender packs it there with its first part, its receiver unpacks it with its last one. So an
 * element is never packed twice, and in place nothing is overwritten that has not been packed. */
struct part {
    int64_t into, head; /* bytes of the first element that are done with, and those that come now */
    int64_t first, whole, tail;
};

static struct part part_of(const struct layout *layout, int64_t at, int64_t bytes)
{
    struct part part = {.into = at % layout->size};
    if (part.into > 0)
        part.head = layout->size - part.into < bytes ? layout->size - part.into : bytes;
    part.first = (at + layout->size - 1) / layout->size;
    part.whole = (bytes - part.head) / layout->size;
    part.tail = (bytes - part.head) % layout->size;
    return part;
}

static char *element(const struct stream *stream, int64_t index)
{
    return stream->place + index * stream->layout->extent;
}

int stream_pack(const struct stream *stream, int64_t at, int64_t bytes, char *to)
{
    const struct layout *layout = stream->layout;
    if (bytes == 0)
        return MPI_SUCCESS;
    if (layout->contiguous) {
        memcpy(to, stream->place + at, (size_t)bytes);
        return MPI_SUCCESS;
    }
    const struct part part = part_of(layout, at, bytes);
    if (part.head > 0)
        memcpy(to, stream->spare + part.into, (size_t)part.head);
    to += part.head;
    int error = MPI_SUCCESS;
    if (part.whole > 0)
        error = pack(element(stream, part.first), part.whole, stream->type, layout, to, stream->comm);
    if (part.tail == 0 || error != MPI_SUCCESS)
        return error;
    error = pack(element(stream, part.first + part.whole), 1, stream->type, layout, stream->spare, stream->comm);
    if (error == MPI_SUCCESS)
        memcpy(to + part.whole * layout->size, stream->spare, (size_t)part.tail);
    return error;
}

int stream_unpack(const struct stream *stream, int64_t at, int64_t bytes, const char *from)
{
    const struct layout *layout = stream->layout;
    if (bytes == 0)
        return MPI_SUCCESS;
    if (layout->contiguous) {
        memcpy(stream->place + at, from, (size_t)bytes);
        return MPI_SUCCESS;
    }
    const struct part part = part_of(layout, at, bytes);
    int error = MPI_SUCCESS;
    if (part.head > 0)
        memcpy(stream->spare + part.into, from, (size_t)part.head);
    if (part.head > 0 && part.into + part.head == layout->size)
        error = unpack(stream->spare, element(stream, part.first - 1), 1, stream->type, layout, stream->comm);
    from += part.head;
    if (part.whole > 0 && error == MPI_SUCCESS)
        error = unpack(from, element(stream, part.first), part.whole, stream->type, layout, stream->comm);
    if (part.tail > 0)
        memcpy(stream->spare, from + part.whole * layout->size, (size_t)part.tail);
    return error;
}
