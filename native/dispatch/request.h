/* What nonblocking collectives of ours have in common: a generalized request of MPI, and the packing of data that is not contiguous. */
#ifndef UNISONO_REQUEST_H
#define UNISONO_REQUEST_H

#include "nonblocking.h"

struct request {
    MPI_Request request;
    int error;
    void *owner;           /* reserve_get()'s, which goes with the request */
    void *room;            /* for what is received, where that has to be unpacked in the end: */
    struct packed receive; /* with a type of ours, as the program may free its own */
};

/* Where what is received has to be unpacked, room for it becomes call->receive. MPI error codes, here and below. */
int request_make_room(struct request *request, const struct wish *wish, struct call *call,
                      const struct coll_comm *comm);
/* What is sent, in one piece, becomes call->send where it has to be packed; *room: reserve_put() when it has been sent. */
int request_collect(const struct packed *send, struct call *call, const struct coll_comm *comm, void **room);

/* It is under way; and it is over: what has come is where the program wants it. */
int request_start(struct request *request, void *owner);
int request_deliver(struct request *request, const struct coll_comm *comm);
void request_complete(struct request *request);

#endif
