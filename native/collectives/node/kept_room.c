#include "kept_room.h"

#include <stddef.h>

#include "../reserve.h"

struct kept_extent {
    int64_t at, bytes;
    bool is_taken;
    struct kept_extent *after; /* it begins where this one ends */
};

void kept_room_start(struct kept_room *room, int64_t from, int64_t end)
{
    struct kept_extent *all = reserve_get(sizeof *all);
    *all = (struct kept_extent){.at = from, .bytes = end - from};
    *room = (struct kept_room){.first = all, .next = all};
}

void kept_room_end(struct kept_room *room)
{
    while (room->first != NULL) {
        struct kept_extent *gone = room->first;
        room->first = gone->after;
        reserve_put(gone);
    }
    room->next = NULL;
}

static int64_t take(struct kept_room *room, struct kept_extent *extent, int64_t bytes)
{
    if (extent->bytes > bytes) {
        struct kept_extent *rest = reserve_get(sizeof *rest);
        *rest = (struct kept_extent){.at = extent->at + bytes, .bytes = extent->bytes - bytes, .after = extent->after};
        extent->bytes = bytes;
        extent->after = rest;
    }
    extent->is_taken = true;
    room->next = extent->after != NULL ? extent->after : room->first;
    return extent->at;
}

static int64_t find(struct kept_room *room, int64_t bytes)
{
    struct kept_extent *extent = room->next;
    do {
        if (!extent->is_taken && extent->bytes >= bytes)
            return take(room, extent, bytes);
        extent = extent->after != NULL ? extent->after : room->first;
    } while (extent != room->next);
    return -1;
}

/* What has come back is free again, in one piece with what is free beside it. */
static void collect(struct kept_room *room, bool (*is_back)(void *with, int64_t at), void *with)
{
    struct kept_extent *before = NULL;
    for (struct kept_extent *extent = room->first, *after; extent != NULL; extent = after) {
        after = extent->after;
        extent->is_taken = extent->is_taken && !is_back(with, extent->at);
        if (before != NULL && !before->is_taken && !extent->is_taken) {
            before->bytes += extent->bytes;
            before->after = after;
            reserve_put(extent);
        } else {
            before = extent;
        }
    }
    room->next = room->first;
}

int64_t kept_room_take(struct kept_room *room, int64_t bytes, bool (*is_back)(void *with, int64_t at), void *with)
{
    int64_t at = find(room, bytes);
    if (at >= 0)
        return at;
    collect(room, is_back, with);
    return find(room, bytes);
}
