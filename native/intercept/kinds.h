/* What is recorded of a call after it has been made, one function for each kind of functions.txt that needs more than
 * its rule. They take the MPI function's own arguments; the generated wrappers call them. */
#ifndef UNISONO_KINDS_H
#define UNISONO_KINDS_H

#include <mpi.h>

#include "completion.h"
#include "message.h"
#include "record.h"
#include "request.h"
#include "call_arguments.h"

/* Time only; `comm` MPI_COMM_NULL: none. */
static inline void kind_timed(enum function function, const struct span *span, MPI_Comm comm)
{
    struct amount amount = amount_none();
    record_call(function, comm != MPI_COMM_NULL ? comm_group(comm)->shape : NOT_KNOWN, &amount, span);
}

/* A call returned an error: what it did is not known. */
static inline void kind_failed(enum function function, const struct span *span)
{
    kind_timed(function, span, MPI_COMM_NULL);
    message_close();
}

/* A communicator was made: it counts even if it is never used. */
static inline void kind_create(enum function function, const struct span *span, MPI_Comm comm, MPI_Comm made)
{
    kind_timed(function, span, comm);
    if (made != MPI_COMM_NULL) {
        comm_group(made);
        message_made(made);
    }
}

/* A nonblocking collective was begun: what completes it is waited for later. */
static inline void kind_posted(enum function function, const struct span *span, const struct group *group,
                               struct amount amount, MPI_Request request)
{
    uint32_t cell = record_call(function, group->shape, &amount, span);
    if (cell != TABLE_NO_CELL && request != MPI_REQUEST_NULL)
        pending_add(request, &(struct origin){cell, record_slab(), record_epoch()}, false);
}

static inline void kind_collective(enum function function, const struct span *span, const struct group *group,
                                   struct amount amount)
{
    record_call(function, group->shape, &amount, span);
}

/* The request of a persistent collective was made: its bytes move when it is started. */
static inline void kind_persistent(enum function function, const struct span *span, int32_t shape, struct amount amount,
                                   int target, MPI_Request made)
{
    struct amount still = amount_of(amount.size, 0, 0);
    uint32_t cell = record_call(function, shape, &still, span);
    request_add(made, &(struct request){.amount = amount,
                                        .shape = shape,
                                        .target = target,
                                        .collective = cell != TABLE_NO_CELL,
                                        .origin = {cell, record_slab(), record_epoch()}});
}

/* Persistent collectives were started: their parts of that call's time go to the calls that made the requests, and so will
 * those of what completes them. */
static inline void kind_started(uint32_t cell, const struct span *span, int count, const void *requests, bool fortran)
{
    const uint64_t part = ticks_between(span->start, span->end) / (uint64_t)count;
    uint64_t theirs = 0;
    for (int i = 0; i < count; i++) {
        struct request one;
        MPI_Request handle = request_handle(requests, i, fortran);
        if (!request_find(handle, &one) || !one.collective || !record_complete(&one.origin, 0, part))
            continue;
        theirs += part;
        pending_add(handle, &one.origin, true);
    }
    if (theirs > 0)
        record_complete(&(struct origin){cell, record_slab(), record_epoch()}, 0, theirs);
}

/* The same of a message: starting it is posting it. */
static inline void kind_persistent_message(enum function function, const struct span *span, const struct group *group,
                                           struct amount amount, uint32_t kind, MPI_Comm comm, int peer, int tag,
                                           MPI_Request made)
{
    struct amount still = amount_of(amount.size, 0, 0);
    bool message = peer != MPI_PROC_NULL;
    bool wild = kind == MESSAGE_RECEIVE && (peer == MPI_ANY_SOURCE || tag == MPI_ANY_TAG);
    int world = !message ? REQUEST_NO_TARGET : wild ? MESSAGE_OPEN : comm_world_rank(group, comm, peer);
    record_call(function, group->shape, &still, span);
    request_add(made, &(struct request){
                          .amount = amount,
                          .shape = group->shape,
                          .target = kind == MESSAGE_SEND ? world : REQUEST_NO_TARGET,
                          .message = message,
                          .envelope = {kind, message_comm(group), world, tag, kind == MESSAGE_SEND ? amount.sent : 0},
                      });
}

/* `request` is MPI_REQUEST_NULL for a call that waits by itself. */
static inline void kind_send(enum function function, const struct span *span, int64_t count, MPI_Datatype type,
                             int dest, int tag, MPI_Comm comm, MPI_Request request)
{
    const struct group *group = comm_group(comm);
    struct amount amount = amount_none();
    if (dest != MPI_PROC_NULL) {
        amount = amount_sent(args_bytes(count, type));
        record_message(comm_world_rank(group, comm, dest), amount.sent);
    }
    uint32_t cell = record_call(function, group->shape, &amount, span);
    message_add(MESSAGE_SEND, group, comm, dest, tag, amount.sent, span->start, span->end, cell, request);
}

static inline void kind_send_init(enum function function, const struct span *span, int64_t count, MPI_Datatype type,
                                  int dest, int tag, MPI_Comm comm, MPI_Request made)
{
    struct amount amount = dest != MPI_PROC_NULL ? amount_sent(args_bytes(count, type)) : amount_none();
    kind_persistent_message(function, span, comm_group(comm), amount, MESSAGE_SEND, comm, dest, tag, made);
}

/* What has arrived. */
static inline int64_t kind_arrived(const MPI_Status *status)
{
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    return bytes >= 0 ? (int64_t)bytes : NOT_KNOWN;
}

static inline void kind_recv(enum function function, const struct span *span, MPI_Comm comm, const MPI_Status *status)
{
    const struct group *group = comm_group(comm);
    bool message = status->MPI_SOURCE != MPI_PROC_NULL;
    struct amount amount = message ? amount_received(kind_arrived(status)) : amount_none();
    uint32_t cell = record_call(function, group->shape, &amount, span);
    message_add(MESSAGE_RECEIVE, group, comm, status->MPI_SOURCE, status->MPI_TAG, 0, span->start, span->end, cell,
                MPI_REQUEST_NULL);
}

static inline void kind_mrecv(enum function function, const struct span *span, const MPI_Status *status)
{
    bool message = status->MPI_SOURCE != MPI_PROC_NULL;
    struct amount amount = message ? amount_received(kind_arrived(status)) : amount_none();
    record_call(function, NOT_KNOWN, &amount, span);
    message_close(); /* its place in the order is that of the probe */
}

/* A nonblocking receive: how long the message is will be known when it is there; the size is that of the buffer. */
static inline struct amount kind_expected(int64_t count, MPI_Datatype type, int source)
{
    return source != MPI_PROC_NULL ? amount_of(args_bytes(count, type), 0, NOT_KNOWN) : amount_none();
}

static inline void kind_irecv(enum function function, const struct span *span, struct amount amount, int source,
                              int tag, MPI_Comm comm, MPI_Request request)
{
    const struct group *group = comm_group(comm);
    uint32_t cell = record_call(function, group->shape, &amount, span);
    message_add(MESSAGE_RECEIVE, group, comm, source, tag, 0, span->start, span->end, cell, request);
}

static inline void kind_imrecv(enum function function, const struct span *span, struct amount amount)
{
    record_call(function, NOT_KNOWN, &amount, span);
    message_close();
}

/* A call that completes requests; `waits`: until they are complete. */
static inline void kind_complete(enum function function, const struct span *span, struct outcome outcome, bool fortran,
                                 bool waits, uint16_t awaited, const void *requests)
{
    struct amount amount = amount_none();
    uint32_t cell = record_call(function, NOT_KNOWN, &amount, span);
    completion_seen(awaited, requests, fortran, outcome.done, ticks_between(span->start, span->end), cell);
    message_completed(&outcome, fortran, waits, span->start, span->end, cell);
}

/* A request that was freed: one that is not under way leaves no gap. */
static inline void kind_freed(enum function function, const struct span *span)
{
    kind_timed(function, span, MPI_COMM_NULL);
    message_dropped();
}

/* A communicator that is no more. */
static inline void kind_ended(enum function function, const struct span *span)
{
    kind_timed(function, span, MPI_COMM_NULL);
    message_ended();
}

static inline void kind_cancelled(enum function function, const struct span *span)
{
    kind_timed(function, span, MPI_COMM_NULL);
    message_cancelled();
}

/* The size is that of the message sent, or of the one received if none is. */
static inline void kind_sendrecv(enum function function, const struct span *span, int64_t count, MPI_Datatype type,
                                 int dest, int sent_tag, int64_t received, int source, const MPI_Status *status,
                                 MPI_Comm comm)
{
    const struct group *group = comm_group(comm);
    struct amount amount = amount_of(received, 0, received > 0 ? received : 0);
    if (dest != MPI_PROC_NULL) {
        amount.size = amount.sent = args_bytes(count, type);
        record_message(comm_world_rank(group, comm, dest), amount.sent);
    }
    uint32_t cell = record_call(function, group->shape, &amount, span);
    message_add(MESSAGE_SEND, group, comm, dest, sent_tag, amount.sent, span->start, span->end, cell, MPI_REQUEST_NULL);
    if (source != MPI_PROC_NULL)
        message_add(MESSAGE_RECEIVE, group, comm, status->MPI_SOURCE, status->MPI_TAG, 0, span->start, span->end, cell,
                    MPI_REQUEST_NULL);
}

/* NOT_KNOWN: no message. */
static inline int64_t kind_received(int source, const MPI_Status *status)
{
    return source != MPI_PROC_NULL && status->MPI_SOURCE != MPI_PROC_NULL ? kind_arrived(status) : NOT_KNOWN;
}

static inline void kind_isendrecv(enum function function, const struct span *span, int64_t count, MPI_Datatype type,
                                  int dest, int source, MPI_Comm comm)
{
    const struct group *group = comm_group(comm);
    struct amount amount = amount_of(NOT_KNOWN, 0, source != MPI_PROC_NULL ? NOT_KNOWN : 0);
    if (dest != MPI_PROC_NULL) {
        amount.size = amount.sent = args_bytes(count, type);
        record_message(comm_world_rank(group, comm, dest), amount.sent);
    }
    record_call(function, group->shape, &amount, span);
    message_close(); /* one request for two messages */
}

/* Start and Startall carry the bytes of what they start. Several that differ have no one size; of a request that was made
 * while nothing was recorded nothing is known. */
static inline void kind_start(enum function function, const struct span *span, int count, const MPI_Request *requests,
                              bool fortran)
{
    /* Of one that is not known it is not known either whether it is a message. */
    static const struct request unknown = {.amount = {NOT_KNOWN, NOT_KNOWN, NOT_KNOWN},
                                           .shape = NOT_KNOWN,
                                           .target = REQUEST_NO_TARGET,
                                           .message = true,
                                           .envelope = {.peer = MESSAGE_OPEN}};
    struct request all = {.amount = amount_none(), .shape = NOT_KNOWN, .target = REQUEST_NO_TARGET};
    bool any = false;
    for (int i = 0; i < count; i++) {
        struct request one;
        MPI_Request handle = request_handle(requests, i, fortran);
        if (!request_find(handle, &one))
            one = unknown;
        any = any || one.collective;
        if (one.message)
            message_started(&one.envelope, span->start, span->end, handle);
        if (one.target != REQUEST_NO_TARGET)
            record_message(one.target, one.amount.sent);
        all.amount.size = i == 0 || all.amount.size == one.amount.size ? one.amount.size : NOT_KNOWN;
        all.shape = i == 0 || all.shape == one.shape ? one.shape : NOT_KNOWN;
        all.amount.sent = amount_sum(all.amount.sent, one.amount.sent);
        all.amount.received = amount_sum(all.amount.received, one.amount.received);
    }
    uint32_t cell = record_call(function, all.shape, &all.amount, span);
    if (any && cell != TABLE_NO_CELL)
        kind_started(cell, span, count, requests, fortran);
}

/* One-sided: to or from a target; MPI_PROC_NULL is none. */
static inline void kind_one_sided(enum function function, const struct span *span, int target, int64_t sent,
                                  int64_t received)
{
    struct amount amount = amount_none();
    if (target != MPI_PROC_NULL)
        amount = amount_of(sent > received ? sent : received, sent, received);
    record_call(function, NOT_KNOWN, &amount, span);
}

static inline void kind_write(enum function function, const struct span *span, int64_t count, MPI_Datatype type)
{
    struct amount amount = amount_sent(args_bytes(count, type));
    record_call(function, NOT_KNOWN, &amount, span);
}

static inline void kind_read(enum function function, const struct span *span, int64_t count, MPI_Datatype type)
{
    struct amount amount = amount_received(args_bytes(count, type));
    record_call(function, NOT_KNOWN, &amount, span);
}

#endif
