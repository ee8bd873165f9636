/* A step of a program's point-to-point messages: as it was recorded (`step`: each message's own bytes, in the program's
 * order, blocking or not), or, where only the partners are known, as many bytes to each of them by Irecv, Isend, Waitall. */
#include <stdlib.h>
#include <string.h>

#include "../partners.h"
#include "all.h"
#include "blocks.h"

/* Found once. `counts` holds how many actions there are, and then these; `offsets` nothing. */
static bool prepare_step(struct operation *operation, struct problem *problem)
{
    struct action *own = malloc(STEP_MOST * sizeof *own);
    operation->counts = malloc((1 + STEP_MOST * ACTION_NUMBERS) * sizeof *operation->counts);
    operation->offsets = malloc(sizeof *operation->offsets);
    bool good = own != NULL && operation->counts != NULL && operation->offsets != NULL;
    if (!good)
        problem_set(problem, "memory: no room for the step");
    good =
        good && partners_step(operation->partners, operation->rank, operation->ranks, own, operation->counts, problem);
    for (int i = 0; good && i < operation->counts[0]; i++) {
        bool sends = own[i].operation == STEP_ISEND || own[i].operation == STEP_SEND;
        operation->send_bytes += sends ? (size_t)own[i].bytes : 0;
        operation->receive_bytes += sends || own[i].operation == STEP_WAIT ? 0 : (size_t)own[i].bytes;
    }
    if (good)
        memcpy(operation->counts + 1, own, (size_t)operation->counts[0] * sizeof *own);
    free(own);
    return good;
}

static struct action action_of(const struct operation *operation, int i)
{
    struct action action;
    memcpy(&action, operation->counts + 1 + (size_t)i * ACTION_NUMBERS, sizeof action);
    return action;
}

/* Found once: `counts` holds how many are sent to, and then who; `offsets` the same of who is received from. */
static bool prepare(struct operation *operation, struct problem *problem)
{
    if (operation->ranks < 2)
        return problem_set(problem, "an exchange needs two ranks");
    if (operation->partners->actions > 0)
        return prepare_step(operation, problem);
    operation->counts = malloc((1 + PARTNERS_MOST) * sizeof *operation->counts);
    operation->offsets = malloc((1 + PARTNERS_MOST) * sizeof *operation->offsets);
    if (operation->counts == NULL || operation->offsets == NULL)
        return problem_set(problem, "memory: no room for the partners");
    if (!partners_of(operation->partners, operation->rank, operation->ranks, operation->counts + 1, operation->counts,
                     operation->offsets + 1, operation->offsets, problem))
        return false;
    operation->send_bytes = (size_t)operation->counts[0] * operation->bytes;
    operation->receive_bytes = (size_t)operation->offsets[0] * operation->bytes;
    return true;
}

static void run_step(const struct operation *operation, MPI_Comm comm, char *send, char *receive)
{
    MPI_Request requests[STEP_MOST];
    MPI_Status statuses[STEP_MOST]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
    int pending = 0;
    for (int i = 0; i < operation->counts[0]; i++) {
        struct action a = action_of(operation, i);
        switch (a.operation) {
        case STEP_IRECV:
            MPI_Irecv(receive, a.bytes, MPI_BYTE, a.peer, a.tag, comm, &requests[pending++]);
            receive += a.bytes;
            break;
        case STEP_ISEND:
            MPI_Isend(send, a.bytes, MPI_BYTE, a.peer, a.tag, comm, &requests[pending++]);
            send += a.bytes;
            break;
        case STEP_RECV:
            MPI_Recv(receive, a.bytes, MPI_BYTE, a.peer, a.tag, comm, MPI_STATUS_IGNORE);
            receive += a.bytes;
            break;
        case STEP_SEND:
            MPI_Send(send, a.bytes, MPI_BYTE, a.peer, a.tag, comm);
            send += a.bytes;
            break;
        default: MPI_Waitall(pending, requests, statuses); pending = 0;
        }
    }
    MPI_Waitall(pending, requests, statuses);
}

static void run(const struct operation *operation, MPI_Comm comm, void *send, void *receive)
{
    if (operation->partners->actions > 0) {
        run_step(operation, comm, send, receive);
        return;
    }
    const int *targets = operation->counts, *sources = operation->offsets, bytes = (int)operation->bytes;
    MPI_Request requests[2 * PARTNERS_MOST];
    MPI_Status statuses[2 * PARTNERS_MOST];
    int count = 0;
    for (int i = 0; i < sources[0]; i++)
        MPI_Irecv((char *)receive + (size_t)i * operation->bytes, bytes, MPI_BYTE, sources[1 + i], 0, comm,
                  &requests[count++]);
    for (int i = 0; i < targets[0]; i++)
        MPI_Isend((char *)send + (size_t)i * operation->bytes, bytes, MPI_BYTE, targets[1 + i], 0, comm,
                  &requests[count++]);
    MPI_Waitall(count, requests, statuses);
}

static void fill(const struct operation *operation, void *send, uint64_t repetition)
{
    const int *targets = operation->counts;
    char *at = send;
    if (operation->partners->actions > 0) {
        for (int i = 0; i < operation->counts[0]; i++) {
            struct action a = action_of(operation, i);
            if (a.operation != STEP_ISEND && a.operation != STEP_SEND)
                continue;
            block_fill(at, (size_t)a.bytes, operation->rank, a.peer, repetition);
            at += a.bytes;
        }
        return;
    }
    for (int i = 0; i < targets[0]; i++)
        block_fill(at + (size_t)i * operation->bytes, operation->bytes, operation->rank, targets[1 + i], repetition);
}

static bool verify(const struct operation *operation, const void *send, const void *receive, uint64_t repetition,
                   struct problem *problem)
{
    const int *sources = operation->offsets;
    const char *at = receive;
    bool good = true;
    (void)send;
    if (operation->partners->actions > 0) {
        for (int i = 0; i < operation->counts[0] && good; i++) {
            struct action a = action_of(operation, i);
            if (a.operation != STEP_IRECV && a.operation != STEP_RECV)
                continue;
            good = block_verify(at, (size_t)a.bytes, a.peer, operation->rank, repetition, problem);
            at += a.bytes;
        }
        return good;
    }
    for (int i = 0; i < sources[0] && good; i++)
        good = block_verify(at + (size_t)i * operation->bytes, operation->bytes, sources[1 + i], operation->rank,
                            repetition, problem);
    return good;
}

const struct collective coll_exchange = {
    .name = "exchange", .prepare = prepare, .run = run, .fill = fill, .verify = verify, .transfers = 1};
