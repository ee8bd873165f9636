/* Which parts of a row of bytes are taken: by one rank for all, with no other rank's help. */
#ifndef UNISONO_NODE_KEPT_ROOM_H
#define UNISONO_NODE_KEPT_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct kept_extent;

struct kept_room {
    struct kept_extent *first;
    struct kept_extent *next; /* where to look next: all before was looked at last */
};

/* `from` to below `end`. */
void kept_room_start(struct kept_room *room, int64_t from, int64_t end);
void kept_room_end(struct kept_room *room);

/* Where so many bytes are free; -1: nowhere. What has been given back is found by asking, and only when nothing else is free. */
int64_t kept_room_take(struct kept_room *room, int64_t bytes, bool (*is_back)(void *with, int64_t at), void *with);

#endif
