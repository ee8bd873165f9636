#include "stub_world.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COMMS = 4096, GUESSED = 64 };

int64_t stub_comparisons;

static int nodes, ppn;
static struct {
    const int *ranks; /* NULL: those of the world, in their order */
    int count;
} comms[COMMS]; /* [0]: the world, and its group */
static int made;
static int guessed[GUESSED], guesses; /* the group that MPI_Group_incl makes; one at a time */

static uintptr_t number_of(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD ? 0 : (uintptr_t)comm;
}

void stub_world(int world_nodes, int world_ppn)
{
    nodes = world_nodes;
    ppn = world_ppn;
    comms[0].count = nodes * ppn;
    made = 1;
}

MPI_Comm stub_comm(const int *ranks, int count)
{
    if (made == COMMS)
        abort();
    comms[made].ranks = ranks;
    comms[made].count = ranks != NULL ? count : comms[0].count;
    return (MPI_Comm)(uintptr_t)made++;
}

double PMPI_Wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int PMPI_Query_thread(int *level)
{
    *level = MPI_THREAD_SINGLE;
    return MPI_SUCCESS;
}

int PMPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found)
{
    (void)comm, (void)key, (void)value;
    *found = 0;
    return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    *size = comms[number_of(comm)].count;
    return MPI_SUCCESS;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *near)
{
    static int first[1 << 16];
    (void)comm, (void)type, (void)key, (void)info;
    for (int i = 0; i < ppn; i++)
        first[i] = i;
    *near = stub_comm(first, ppn);
    return MPI_SUCCESS;
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *copy)
{
    (void)color, (void)key;
    *copy = stub_comm(comms[number_of(comm)].ranks, comms[number_of(comm)].count);
    return MPI_SUCCESS;
}

int PMPI_Comm_free(MPI_Comm *comm)
{
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)comm, (void)handler;
    return MPI_SUCCESS;
}

/* Groups are numbered as their communicators, from 1; the last is that of guesses. */
int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    *group = (MPI_Group)(number_of(comm) + 1);
    return MPI_SUCCESS;
}

int PMPI_Group_incl(MPI_Group world, int count, const int *ranks, MPI_Group *group)
{
    if ((uintptr_t)world != 1 || count > GUESSED)
        abort();
    memcpy(guessed, ranks, (size_t)count * sizeof *ranks);
    guesses = count;
    *group = (MPI_Group)(uintptr_t)(COMMS + 1);
    return MPI_SUCCESS;
}

int PMPI_Group_free(MPI_Group *group)
{
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

static int find_guess(int rank)
{
    for (int i = 0; i < guesses; i++)
        if (guessed[i] == rank)
            return i;
    return MPI_UNDEFINED;
}

int PMPI_Group_translate_ranks(MPI_Group from, int count, const int *ranks, MPI_Group to, int *found)
{
    int which = (int)((uintptr_t)from - 1);
    for (int i = 0; i < count; i++) {
        int rank = comms[which].ranks != NULL ? comms[which].ranks[ranks[i]] : ranks[i];
        if ((uintptr_t)to == 1) {
            found[i] = rank < 0 ? MPI_UNDEFINED : rank;
            stub_comparisons += rank < 0 ? comms[0].count : rank + 1;
        } else {
            found[i] = rank < 0 ? MPI_UNDEFINED : find_guess(rank);
            stub_comparisons += found[i] == MPI_UNDEFINED ? guesses : found[i] + 1;
        }
    }
    return MPI_SUCCESS;
}

static size_t bytes_of(int count, MPI_Datatype type)
{
    size_t each = type == MPI_INT ? sizeof(int) : type == MPI_DOUBLE || type == MPI_LONG || type == MPI_INT64_T ? 8 : 1;
    return (size_t)count * each;
}

int PMPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    (void)data, (void)count, (void)type, (void)root, (void)comm;
    return MPI_SUCCESS;
}

int PMPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)op, (void)comm;
    if (send != MPI_IN_PLACE)
        memcpy(receive, send, bytes_of(count, type));
    return MPI_SUCCESS;
}

/* Everybody says what this rank does, but for who shares a node: one number (topology_start), where others are below 0. */
int PMPI_Allgather(const void *send, int count, MPI_Datatype type, void *receive, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm comm)
{
    size_t bytes = bytes_of(count, type);
    (void)receive_count, (void)receive_type;
    for (int rank = 0; rank < comms[number_of(comm)].count; rank++) {
        char *at = (char *)receive + (size_t)rank * bytes;
        if (comm == MPI_COMM_WORLD && type == MPI_INT && count == 1 && *(const int *)send >= 0)
            *(int *)(void *)at = rank / ppn * ppn;
        else if (send != MPI_IN_PLACE)
            memcpy(at, send, bytes);
    }
    return MPI_SUCCESS;
}

int PMPI_Barrier(MPI_Comm comm)
{
    (void)comm;
    return MPI_SUCCESS;
}

int PMPI_Get_processor_name(char *name, int *length)
{
    strcpy(name, "stub");
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

int PMPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    (void)data, (void)count, (void)type, (void)to, (void)tag, (void)comm;
    return MPI_SUCCESS;
}

/* "Yes", to whoever asks. */
int PMPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    (void)from, (void)tag, (void)comm, (void)status;
    memset(data, 1, bytes_of(count, type));
    return MPI_SUCCESS;
}

int PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return PMPI_Send(data, count, type, to, tag, comm);
}

int PMPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    (void)from, (void)tag, (void)comm;
    if (bytes_of(count, type) == 1) /* "yes" here, too */
        memset(data, 1, 1);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int PMPI_Testall(int count, MPI_Request *requests, int *done, MPI_Status *statuses)
{
    (void)statuses;
    for (int i = 0; i < count; i++)
        requests[i] = MPI_REQUEST_NULL;
    *done = 1;
    return MPI_SUCCESS;
}

int PMPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    (void)request, (void)status;
    *done = 1;
    return MPI_SUCCESS;
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    (void)request, (void)status;
    return MPI_SUCCESS;
}

int PMPI_Waitany(int count, MPI_Request *requests, int *which, MPI_Status *status)
{
    (void)count, (void)requests, (void)status;
    *which = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int PMPI_Testany(int count, MPI_Request *requests, int *which, int *done, MPI_Status *status)
{
    *done = 1;
    return PMPI_Waitany(count, requests, which, status);
}

int PMPI_Iprobe(int from, int tag, MPI_Comm comm, int *found, MPI_Status *status)
{
    (void)from, (void)tag, (void)comm, (void)status;
    *found = 0;
    return MPI_SUCCESS;
}

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler)
{
    (void)function;
    *handler = MPI_ERRORS_RETURN;
    return MPI_SUCCESS;
}

int PMPI_Errhandler_free(MPI_Errhandler *handler)
{
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

int PMPI_Error_class(int error, int *class)
{
    *class = error;
    return MPI_SUCCESS;
}
