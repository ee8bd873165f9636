#include "balanced.h"

#include <stdlib.h>
#include <string.h>

static int64_t half_at(const struct balanced *balanced, int half)
{
    return half ? balanced->block / 2 : 0;
}

static int64_t half_bytes(const struct balanced *balanced, int half)
{
    return half ? balanced->block - balanced->block / 2 : balanced->block / 2;
}

static char *stored(const struct balanced *balanced, int offset, int half)
{
    return balanced->stored + balanced->stored_at[offset] * balanced->block + half_at(balanced, half);
}

/* Halves of own blocks that go by the neighbour at `offset`, copied to (or, of what comes, from) the message; the end. */
static char *bundle(const struct balanced *balanced, int offset, char *message, bool out)
{
    int half;
    unsigned dimensions = spread_bundle(balanced->torus, offset, &half);
    for (int far = 1; dimensions != 0 && far < torus_places(balanced->torus); far++) {
        if (spread_halfway(balanced->torus, far) != dimensions)
            continue;
        const char *own = balanced->send + torus_add(balanced->torus, balanced->here, far, 1) * balanced->block;
        int64_t bytes = half_bytes(balanced, half);
        if (out && message != NULL)
            memcpy(message, own + half_at(balanced, half), (size_t)bytes);
        else if (message != NULL)
            memcpy(stored(balanced, far, half), message, (size_t)bytes);
        message = message == NULL ? NULL : message + bytes;
    }
    return message;
}

static int64_t message_bytes(const struct balanced *balanced, int offset)
{
    struct spread_relayed relayed[SPREAD_PARTS];
    int half, count = spread_relayed(balanced->torus, offset, relayed);
    int64_t bytes = balanced->block;
    unsigned dimensions = spread_bundle(balanced->torus, offset, &half);
    for (int far = 1; dimensions != 0 && far < torus_places(balanced->torus); far++)
        bytes += spread_halfway(balanced->torus, far) == dimensions ? half_bytes(balanced, half) : 0;
    for (int i = 0; i < count; i++)
        bytes += half_bytes(balanced, relayed[i].half);
    return bytes;
}

static void pack(const struct balanced *balanced, int offset, char *message)
{
    struct spread_relayed relayed[SPREAD_PARTS];
    int count = spread_relayed(balanced->torus, offset, relayed);
    int to = torus_add(balanced->torus, balanced->here, offset, 1);
    memcpy(message, balanced->send + to * balanced->block, (size_t)balanced->block);
    message = bundle(balanced, offset, message + balanced->block, true);
    for (int i = 0; i < count; i++) {
        int64_t bytes = half_bytes(balanced, relayed[i].half);
        memcpy(message, stored(balanced, relayed[i].offset, relayed[i].half), (size_t)bytes);
        message += bytes;
    }
}

static void unpack(const struct balanced *balanced, int offset, char *message)
{
    struct spread_relayed relayed[SPREAD_PARTS];
    int count = spread_relayed(balanced->torus, offset, relayed);
    int from = torus_add(balanced->torus, balanced->here, offset, -1);
    memcpy(balanced->receive + from * balanced->block, message, (size_t)balanced->block);
    message = bundle(balanced, offset, message + balanced->block, false);
    for (int i = 0; i < count; i++) {
        int begun = torus_add(balanced->torus, from, relayed[i].from, 1);
        int64_t bytes = half_bytes(balanced, relayed[i].half);
        memcpy(balanced->receive + begun * balanced->block + half_at(balanced, relayed[i].half), message,
               (size_t)bytes);
        message += bytes;
    }
}

/* Until so many messages, in their order, have come and gone. */
static int finish(struct balanced *balanced, int until)
{
    int error = MPI_SUCCESS;
    for (; balanced->finished < until && error == MPI_SUCCESS; balanced->finished++) {
        struct balanced_message *message = &balanced->messages[balanced->finished % balanced->ahead];
        error = fabric_wait(&balanced->comm->fabric, 2, message->requests);
        if (error == MPI_SUCCESS && message->in != NULL)
            unpack(balanced, message->offset, message->in);
    }
    return error;
}

int balanced_step(struct balanced *balanced)
{
    int number = balanced->begun++;
    struct spread_relayed relayed[SPREAD_PARTS];
    struct balanced_message *message = &balanced->messages[number % balanced->ahead];
    int offset = balanced->offsets[number];
    int count = spread_relayed(balanced->torus, offset, relayed), needed = number + 1 - balanced->ahead;
    for (int i = 0; i < count; i++) { /* what is sent on must have come: with the message of the opposite offset */
        int by = balanced->number_of[torus_add(balanced->torus, 0, relayed[i].from, -1)];
        needed = by + 1 > needed ? by + 1 : needed;
    }
    int error = finish(balanced, needed);
    int to = torus_add(balanced->torus, balanced->here, offset, 1);
    int from = torus_add(balanced->torus, balanced->here, offset, -1);
    int64_t bytes = message_bytes(balanced, offset);
    char *buffer = balanced->buffers + 2 * (number % balanced->ahead) * balanced->most;
    bool plain = bytes == balanced->block;
    message->offset = offset;
    message->in = plain ? NULL : buffer;
    if (!plain)
        pack(balanced, offset, buffer + balanced->most);
    if (error == MPI_SUCCESS)
        error =
            fabric_start_receive(&balanced->comm->fabric, plain ? balanced->receive + from * balanced->block : buffer,
                                 bytes, balanced->ranks[from], balanced->tag, &message->requests[0]);
    if (error == MPI_SUCCESS)
        error = fabric_start_send(&balanced->comm->fabric,
                                  plain ? balanced->send + to * balanced->block : buffer + balanced->most, bytes,
                                  balanced->ranks[to], balanced->tag, &message->requests[1]);
    return error;
}

/* Ranks begin each stretch of the order at different points of it. Not before the messages with halves to be sent on, which
   must come first. */
static void take_turns(struct balanced *balanced)
{
    int begin = 0, half, most = balanced->turns * balanced->ahead;
    int *copy = balanced->number_of; /* is not needed yet */
    memcpy(copy, balanced->offsets, (size_t)balanced->count * sizeof *copy);
    for (int i = 0; i < balanced->count; i++)
        begin = spread_bundle(balanced->torus, balanced->offsets[i], &half) != 0 ? i + 1 : begin;
    while (begin < balanced->count) {
        int stretch = balanced->count - begin < most ? balanced->count - begin : most;
        for (int i = 0; i < stretch; i++)
            balanced->offsets[begin + i] = copy[begin + (i + balanced->turn * balanced->ahead) % stretch];
        begin += stretch;
    }
}

int64_t balanced_plan(struct balanced *balanced)
{
    int places = torus_places(balanced->torus);
    balanced->offsets = malloc(3 * (size_t)places * sizeof *balanced->offsets);
    balanced->count = balanced->stores = balanced->begun = balanced->finished = 0;
    balanced->most = 0;
    if (balanced->offsets == NULL)
        return -1;
    balanced->number_of = balanced->offsets + places;
    balanced->stored_at = balanced->number_of + places;
    spread_order(balanced->torus, balanced->offsets);
    for (int i = 0; i < places - 1; i++) {
        int offset = balanced->offsets[i];
        bool far = spread_halfway(balanced->torus, offset) != 0;
        balanced->stored_at[offset] = far ? balanced->stores++ : -1;
        if (!far)
            balanced->offsets[balanced->count++] = offset;
    }
    take_turns(balanced);
    for (int i = 0; i < balanced->count; i++) {
        int64_t bytes = message_bytes(balanced, balanced->offsets[i]);
        balanced->most = bytes > balanced->most ? bytes : balanced->most;
        balanced->number_of[balanced->offsets[i]] = i;
    }
    return balanced->stores * balanced->block + 2 * balanced->ahead * balanced->most + 1;
}

void balanced_begin(struct balanced *balanced, char *room)
{
    int64_t at = balanced->here * balanced->block;
    balanced->stored = room;
    balanced->buffers = room + balanced->stores * balanced->block;
    memcpy(balanced->receive + at, balanced->send + at, (size_t)balanced->block);
}

int balanced_end(struct balanced *balanced, int error)
{
    if (error == MPI_SUCCESS)
        error = finish(balanced, balanced->count);
    free(balanced->offsets);
    balanced->offsets = NULL;
    return error;
}
