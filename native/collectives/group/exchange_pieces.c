#include "group.h"

/* A large message asks its receiver first. Where data goes both ways on one connection, question and answer wait behind
   it, and both ways take turns. */
static const int64_t whole_up_to = 64 << 10;
static const int64_t under_way = 128 << 10; /* of a node, each way */
enum { PIECE = RING_SEGMENT, LEAST = 2, MOST = 4 };

/* Sender and receiver cut a message alike: by its size alone. */
static int64_t piece_size(int64_t bytes)
{
    return bytes <= whole_up_to ? whole_up_to : PIECE;
}

static int64_t piece_bytes(int64_t bytes, int64_t piece)
{
    int64_t left = bytes - piece * piece_size(bytes);
    return left < piece_size(bytes) ? left : piece_size(bytes);
}

int group_exchange_pieces(const struct group *group, const void *send, int64_t send_bytes, int to, void *receive,
                          int64_t receive_bytes, int from)
{
    const struct fabric *fabric = &group->comm->fabric;
    const int64_t out = piece_size(send_bytes), in = piece_size(receive_bytes);
    MPI_Request requests[MOST][2];
    int64_t share = under_way / PIECE / group->comm->topology.most;
    int window = (int)(share < LEAST ? LEAST : share > MOST ? MOST : share), error = MPI_SUCCESS;
    for (int i = 0; i < MOST; i++)
        requests[i][0] = requests[i][1] = MPI_REQUEST_NULL;
    for (int64_t i = 0; error == MPI_SUCCESS && (i * out < send_bytes || i * in < receive_bytes); i++) {
        MPI_Request *slot = requests[i % window];
        error = fabric_wait(2, slot);
        if (error == MPI_SUCCESS && i * in < receive_bytes)
            error = fabric_start_receive(fabric, (char *)receive + i * in, piece_bytes(receive_bytes, i), from, group->tag,
                                         &slot[0]);
        if (error == MPI_SUCCESS && i * out < send_bytes)
            error = fabric_start_send(fabric, (const char *)send + i * out, piece_bytes(send_bytes, i), to, group->tag,
                                      &slot[1]);
    }
    return error == MPI_SUCCESS ? fabric_wait(2 * MOST, requests[0]) : error;
}
