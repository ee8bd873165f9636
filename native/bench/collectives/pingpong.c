/* Ping-pong: one message from rank 0 to the last rank, and one back. The time reported is that of one message. */
#include "all.h"
#include "blocks.h"

static bool takes_part(const struct operation *operation)
{
    return operation->rank == 0 || operation->rank == operation->ranks - 1;
}

static bool prepare(struct operation *operation, struct problem *problem)
{
    if (operation->ranks < 2)
        return problem_set(problem, "a ping-pong needs two ranks");
    operation->send_bytes = operation->receive_bytes = takes_part(operation) ? operation->bytes : 0;
    return true;
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    int bytes = (int)operation->bytes;
    int last = operation->ranks - 1;
    if (operation->rank == 0) {
        MPI_Send(send, bytes, MPI_BYTE, last, 0, comm);
        MPI_Recv(receive, bytes, MPI_BYTE, last, 0, comm, MPI_STATUS_IGNORE);
    } else if (operation->rank == last) {
        MPI_Recv(receive, bytes, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
        MPI_Send(send, bytes, MPI_BYTE, 0, 0, comm);
    }
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    block_fill(send, operation->send_bytes, operation->rank, operation->ranks - 1 - operation->rank, repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    (void)send;
    return !takes_part(operation) || block_verify(receive, operation->bytes, operation->ranks - 1 - operation->rank,
                                                  operation->rank, repetition, problem);
}

const struct collective coll_pingpong = {
    .name = "pingpong", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 2};
