#include "fabric.h"

/* Messages longer than this travel as several, so that no count exceeds an int. */
static const int64_t longest = INT64_C(1) << 30;

int fabric_send(const struct fabric *fabric, const void *data, int64_t bytes, int to, int tag)
{
    const char *at = data;
    int error = MPI_SUCCESS;
    for (; bytes > 0 && error == MPI_SUCCESS; at += longest, bytes -= longest)
        error = PMPI_Send(at, (int)(bytes < longest ? bytes : longest), MPI_BYTE, to, tag, fabric->comm);
    return error;
}

int fabric_receive(const struct fabric *fabric, void *data, int64_t bytes, int from, int tag)
{
    char *at = data;
    int error = MPI_SUCCESS;
    for (; bytes > 0 && error == MPI_SUCCESS; at += longest, bytes -= longest)
        error = PMPI_Recv(at, (int)(bytes < longest ? bytes : longest), MPI_BYTE, from, tag, fabric->comm,
                          MPI_STATUS_IGNORE);
    return error;
}

/* One message of a long transfer; none when there is nothing (left) to send. */
static int start(const struct fabric *fabric, char *data, int64_t bytes, int peer, int tag, int sends,
                 MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (bytes <= 0 || peer < 0)
        return MPI_SUCCESS;
    int count = (int)(bytes < longest ? bytes : longest);
    if (sends)
        return PMPI_Isend(data, count, MPI_BYTE, peer, tag, fabric->comm, request);
    return PMPI_Irecv(data, count, MPI_BYTE, peer, tag, fabric->comm, request);
}

int fabric_exchange(const struct fabric *fabric, const void *send, int64_t send_bytes, int to, void *receive,
                    int64_t receive_bytes, int from, int tag)
{
    char *out = (char *)(uintptr_t)send, *in = receive;
    while ((send_bytes > 0 && to >= 0) || (receive_bytes > 0 && from >= 0)) {
        MPI_Request requests[2];
        int error = start(fabric, in, receive_bytes, from, tag, 0, &requests[0]);
        if (error == MPI_SUCCESS)
            error = start(fabric, out, send_bytes, to, tag, 1, &requests[1]);
        if (error == MPI_SUCCESS)
            error = fabric_wait(2, requests);
        if (error != MPI_SUCCESS)
            return error;
        in += longest, out += longest;
        receive_bytes -= longest, send_bytes -= longest;
    }
    return MPI_SUCCESS;
}

int fabric_start_send(const struct fabric *fabric, const void *data, int64_t bytes, int to, int tag,
                      MPI_Request *request)
{
    const char *at = data;
    for (; bytes > longest; at += longest, bytes -= longest) {
        int error = PMPI_Send(at, (int)longest, MPI_BYTE, to, tag, fabric->comm);
        if (error != MPI_SUCCESS)
            return error;
    }
    return start(fabric, (char *)(uintptr_t)at, bytes, to, tag, 1, request);
}

int fabric_start_receive(const struct fabric *fabric, void *data, int64_t bytes, int from, int tag,
                         MPI_Request *request)
{
    return start(fabric, data, bytes, from, tag, 0, request);
}

int fabric_wait(int count, MPI_Request *requests)
{
    return PMPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

void fabric_progress(const struct fabric *fabric)
{
    int found;
    PMPI_Iprobe(MPI_ANY_SOURCE, FABRIC_SETUP, fabric->comm, &found, MPI_STATUS_IGNORE);
}
