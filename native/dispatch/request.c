#include "request.h"

#include "pack.h"
#include "reserve.h"

static int query(void *extra, MPI_Status *status)
{
    const struct request *request = extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return request->error;
}

static int release(void *extra)
{
    struct request *request = extra;
    reserve_put(request->owner);
    return MPI_SUCCESS;
}

/* MPI forbids it of collectives. */
static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

int request_make_room(struct request *request, const struct wish *wish, struct call *call, const struct coll_comm *comm)
{
    struct packed *receive = &request->receive;
    if (!wish->receive.is_there)
        return MPI_SUCCESS;
    *receive = wish->receive;
    request->room = call->receive = reserve_get((size_t)types_bytes(receive->count, &receive->layout));
    int error = PMPI_Type_contiguous(1, wish->receive.type, &receive->type);
    if (error == MPI_SUCCESS)
        error = PMPI_Type_commit(&receive->type);
    if (error == MPI_SUCCESS && wish->keeps) {
        call->send = (char *)request->room + comm->rank * call->bytes;
        error = pack(receive->data, receive->count, receive->type, &receive->layout, request->room, comm->comm);
    }
    return error;
}

int request_collect(const struct packed *send, struct call *call, const struct coll_comm *comm, void **room)
{
    if (!send->is_there)
        return MPI_SUCCESS;
    *room = reserve_get((size_t)types_bytes(send->count, &send->layout));
    call->send = *room;
    return pack(send->data, send->count, send->type, &send->layout, *room, comm->comm);
}

int request_start(struct request *request, void *owner)
{
    request->owner = owner;
    return PMPI_Grequest_start(query, release, cancel, request, &request->request);
}

int request_deliver(struct request *request, const struct coll_comm *comm)
{
    struct packed *receive = &request->receive;
    if (request->room == NULL)
        return MPI_SUCCESS;
    int error = unpack(request->room, receive->data, receive->count, receive->type, &receive->layout, comm->comm);
    PMPI_Type_free(&receive->type);
    reserve_put(request->room);
    request->room = NULL;
    return error;
}

void request_complete(struct request *request)
{
    PMPI_Grequest_complete(request->request);
}
