/* The fabric transport: messages on a private communicator. Bytes are counted in 64 bits; MPI error codes. */
#ifndef UNISONO_FABRIC_H
#define UNISONO_FABRIC_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* One for each purpose, so that a message of one phase never meets the receive of another. */
enum fabric_tag {
    FABRIC_DATA = 1,
    FABRIC_SECOND,
    FABRIC_NODE,
    FABRIC_SETUP,
    FABRIC_LATER, /* of calls that do not block */
    FABRIC_TAGS = FABRIC_LATER,
    FABRIC_OWN = 19998, /* of a rank to itself */
    FABRIC_NEVER_SENT,
    FABRIC_TAGS_END /* above those of all slots; MPI has 32,767 at least */
};

struct fabric {
    MPI_Comm comm;
    struct failure *failure; /* of others: failure.h; NULL: not watched */
    int tags;                /* added to all tags: several communicators may send on one private communicator */
    /* Those that wait for a message look who has left: all ranks are on one node that shares memory, or ranks of a node send
       one another messages because cells or queues were refused. */
    bool hears;
    bool survives; /* the MPI library goes on when ranks fail */
};

int fabric_send(const struct fabric *fabric, const void *data, int64_t bytes, int to, int tag);
int fabric_receive(const struct fabric *fabric, void *data, int64_t bytes, int from, int tag);
/* Both at once. In all of these, of 0 bytes no message is sent; so with a negative rank. */
int fabric_exchange(const struct fabric *fabric, const void *send, int64_t send_bytes, int to, void *receive,
                    int64_t receive_bytes, int from, int tag);
int fabric_start_send(const struct fabric *fabric, const void *data, int64_t bytes, int to, int tag,
                      MPI_Request *request);
int fabric_start_receive(const struct fabric *fabric, void *data, int64_t bytes, int from, int tag,
                         MPI_Request *request);
/* The same of the program's own memory, and for calls that do not block: who begins it sees to it that it comes to its end. */
int fabric_begin(const struct fabric *fabric, void *data, MPI_Count count, MPI_Datatype type, int peer, int tag,
                 bool sends, MPI_Request *request);
/* The end of what was begun, where somebody has left: the memory is the program's again. */
int fabric_abandon(MPI_Request *request, int error);
int fabric_wait(const struct fabric *fabric, int count, MPI_Request *requests);
/* The same for those who may have met an error since they began the first of them, and who are going to return it: nobody writes
   to their memory any more. */
int fabric_finish(const struct fabric *fabric, int error, int count, MPI_Request *requests);
/* For a request of any kind, or until a rank of the node is known to have left: its code, and the request is not through. */
int fabric_await(const struct fabric *fabric, MPI_Request *request);
/* For one of them; *which is -1 where all are null. _test_any does not wait: -1, too, where none is through. */
int fabric_wait_any(const struct fabric *fabric, int count, MPI_Request *requests, int *which);
int fabric_test_any(const struct fabric *fabric, int count, MPI_Request *requests, int *which);
/* What was started and is waited for by other means than these is through. */
void fabric_forget(const struct fabric *fabric, MPI_Request request);
/* Where somebody has left, what is still under way is taken back: its memory is the program's again. */
void fabric_take_back(const struct fabric *fabric);
/* Lets the MPI library move what it still has to: for those that wait for flags in memory. */
void fabric_progress(const struct fabric *fabric);

#endif
