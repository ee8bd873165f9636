#include "trial_task.h"

#include "nonblocking.h"

static const int64_t sizes[TYPED] = {512, 32 << 10, 128 << 10};
static const int64_t plain_size = 32 << 10; /* whose blocks have no gaps */

bool task_is_rooted(enum collective collective)
{
    return collective == COLL_GATHER || collective == COLL_SCATTER || collective == COLL_GATHERV ||
           collective == COLL_SCATTERV;
}

static MPI_Datatype make_gapped(void)
{
    MPI_Datatype part = MPI_DATATYPE_NULL, gapped = MPI_DATATYPE_NULL;
    if (PMPI_Type_contiguous(PART, MPI_BYTE, &part) != MPI_SUCCESS)
        return MPI_DATATYPE_NULL;
    if (PMPI_Type_create_resized(part, 0, 2 * PART, &gapped) == MPI_SUCCESS && PMPI_Type_commit(&gapped) != MPI_SUCCESS)
        PMPI_Type_free(&gapped);
    PMPI_Type_free(&part);
    return gapped;
}

void task_prepare(struct trial_room *room, MPI_Comm comm)
{
    const int open[DIMENSIONS] = {0};
    int parts[DIMENSIONS] = {0}, ranks;
    room->gapped = make_gapped();
    room->grid = MPI_COMM_NULL;
    room->around = (struct neighbours){2 * DIMENSIONS, 2 * DIMENSIONS, room->ranks, room->ranks};
    coll_comm_create(comm, &room->meeting);
    PMPI_Comm_size(comm, &ranks);
    if (PMPI_Dims_create(ranks, DIMENSIONS, parts) != MPI_SUCCESS ||
        PMPI_Cart_create(comm, DIMENSIONS, parts, open, 0, &room->grid) != MPI_SUCCESS)
        return;
    for (int i = 0; i < DIMENSIONS; i++)
        PMPI_Cart_shift(room->grid, i, 1, &room->ranks[2 * i], &room->ranks[2 * i + 1]);
    for (int i = 0; i < 2 * DIMENSIONS; i++)
        room->ranks[i] = room->ranks[i] == MPI_PROC_NULL ? -1 : room->ranks[i];
}

void task_end(struct trial_room *room)
{
    if (room->gapped != MPI_DATATYPE_NULL)
        PMPI_Type_free(&room->gapped);
    if (room->meeting != NULL)
        coll_comm_free(room->meeting);
    if (room->grid != MPI_COMM_NULL)
        PMPI_Comm_free(&room->grid);
}

/* Blocks on each side. */
static int blocks_of(const struct task *task, const struct coll_comm *comm)
{
    return collective_is_near(task->call.collective) ? 2 * DIMENSIONS : comm->ranks;
}

static bool is_there(const struct task *task, int block)
{
    return task->call.around == NULL || task->call.around->target[block] >= 0;
}

bool task_set_up_typed(struct task *task, enum collective collective, const struct coll_comm *comm, int64_t bytes,
                       int64_t most, const struct trial_room *room)
{
    bool is_tried = false, is_plain = bytes == plain_size;
    for (int i = 0; i < TYPED; i++)
        is_tried = is_tried || sizes[i] == bytes;
    const int64_t span = is_plain ? bytes : 2 * bytes;
    const bool is_near = collective_is_near(collective);
    const int blocks = is_near ? 2 * DIMENSIONS : comm->ranks;
    if (!is_tried || span * blocks > most || (is_near && room->grid == MPI_COMM_NULL))
        return false;
    *task = (struct task){.room = room, .shape = {.commutative = true}, .calls = bytes <= PART * PART ? 8 : 1};
    task->call = (struct call){.collective = collective,
                               .own = bytes,
                               .send = room->send,
                               .receive = room->receive,
                               .send_bytes = room->bytes,
                               .send_at = room->at,
                               .receive_bytes = room->bytes,
                               .receive_at = room->at,
                               .around = is_near ? &room->around : NULL};
    for (int rank = 0; rank < blocks; rank++) {
        room->counts[rank] = (int)(is_plain ? bytes : bytes / PART);
        room->places[rank] = is_near ? rank * room->counts[rank] : (int)(rank * span);
        room->types[rank] = is_plain ? MPI_BYTE : room->gapped;
        room->bytes[rank] = bytes;
        room->at[rank] = rank * bytes;
    }
    return true;
}

/* Whether a rank has as many blocks to send as there are ranks. */
static bool sends_blocks(enum collective collective)
{
    return collective == COLL_ALLTOALL || collective == COLL_IALLTOALL || collective == COLL_SCATTER ||
           collective == COLL_SCATTERV || collective == COLL_REDUCE_SCATTER_BLOCK;
}

void task_write(const struct task *task, const struct coll_comm *comm)
{
    enum { LINE = 64 };
    const enum collective collective = task->call.collective;
    const bool in_place = collective == COLL_BCAST || collective == COLL_IBCAST;
    volatile char *data = in_place ? task->room->receive : task->room->send;
    int64_t bytes = task->call.own;
    if (task_is_typed(collective))
        bytes *= (bytes == plain_size ? 1 : 2) * blocks_of(task, comm);
    else if (sends_blocks(collective))
        bytes *= comm->ranks;
    for (int64_t i = 0; i < bytes && (!in_place || comm->rank == task->call.root); i += LINE)
        data[i] = data[i];
}

/* What dispatch does of an alltoallw whose types have gaps. */
static int run_packed(const struct task *task, const struct algorithm *algorithm, struct coll_comm *comm)
{
    const struct trial_room *room = task->room;
    const int64_t bytes = task->call.own;
    const int blocks = blocks_of(task, comm);
    char *leaving = coll_scratch(comm, SCRATCH_PACK_SEND, bytes * blocks);
    char *coming = coll_scratch(comm, SCRATCH_PACK_RECEIVE, bytes * blocks);
    struct call call = task->call;
    int error = leaving == NULL || coming == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS, used;
    call.send = leaving, call.receive = coming;
    for (int rank = 0; rank < blocks && error == MPI_SUCCESS; rank++) {
        used = 0;
        if (is_there(task, rank))
            error = PMPI_Pack((char *)room->send + 2 * room->at[rank], room->counts[rank], room->gapped,
                              leaving + room->at[rank], (int)bytes, &used, comm->comm);
    }
    if (error == MPI_SUCCESS)
        error = algorithm_run(algorithm, comm, &call, 0);
    for (int rank = 0; rank < blocks && error == MPI_SUCCESS; rank++) {
        used = 0;
        if (is_there(task, rank))
            error = PMPI_Unpack(coming + room->at[rank], (int)bytes, &used, (char *)room->receive + 2 * room->at[rank],
                                room->counts[rank], room->gapped, comm->comm);
    }
    return error;
}

int task_run_ours(const struct task *task, const struct algorithm *algorithm, struct coll_comm *comm)
{
    if (task_is_typed(task->call.collective) && task->call.own != plain_size)
        return run_packed(task, algorithm, comm);
    if (collective_is_nonblocking(task->call.collective))
        return nonblocking_run(comm, &task->call);
    return algorithm_run(algorithm, comm, &task->call, 0);
}

static void run_nonblocking_rival(const struct call *call, int bytes, int count, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (call->collective == COLL_IALLREDUCE)
        PMPI_Iallreduce(call->send, call->receive, count, MPI_DOUBLE, MPI_SUM, comm, &request);
    else if (call->collective == COLL_IREDUCE)
        PMPI_Ireduce(call->send, call->receive, count, MPI_DOUBLE, MPI_SUM, call->root, comm, &request);
    else if (call->collective == COLL_IALLTOALL)
        PMPI_Ialltoall(call->send, bytes, MPI_BYTE, call->receive, bytes, MPI_BYTE, comm, &request);
    else
        PMPI_Ibcast(call->receive, bytes, MPI_BYTE, call->root, comm, &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

void task_run_rival(const struct task *task, MPI_Comm comm)
{
    const struct call *call = &task->call;
    const int bytes = (int)call->bytes, count = (int)(call->bytes / (int64_t)sizeof(double));
    if (collective_is_nonblocking(call->collective))
        run_nonblocking_rival(call, bytes, count, comm);
    else if (call->collective == COLL_GATHER)
        PMPI_Gather(call->send, bytes, MPI_BYTE, call->receive, bytes, MPI_BYTE, call->root, comm);
    else if (call->collective == COLL_SCATTER)
        PMPI_Scatter(call->send, bytes, MPI_BYTE, call->receive, bytes, MPI_BYTE, call->root, comm);
    else if (call->collective == COLL_GATHERV)
        PMPI_Gatherv(call->send, (int)call->own, MPI_BYTE, call->receive, task->room->counts, task->room->places,
                     MPI_BYTE, call->root, comm);
    else if (call->collective == COLL_SCATTERV)
        PMPI_Scatterv(call->send, task->room->counts, task->room->places, MPI_BYTE, call->receive, (int)call->own,
                      MPI_BYTE, call->root, comm);
    else if (collective_is_near(call->collective))
        PMPI_Neighbor_alltoallv(call->send, task->room->counts, task->room->places, task->room->types[0], call->receive,
                                task->room->counts, task->room->places, task->room->types[0], task->room->grid);
    else if (call->collective == COLL_ALLTOALLW)
        PMPI_Alltoallw(call->send, task->room->counts, task->room->places, task->room->types, call->receive,
                       task->room->counts, task->room->places, task->room->types, comm);
    else if (call->collective == COLL_SCAN)
        PMPI_Scan(call->send, call->receive, count, MPI_DOUBLE, MPI_SUM, comm);
    else if (call->collective == COLL_EXSCAN)
        /* MPICH refuses rank 0 a receive buffer that is NULL, though it means nothing there, and the others wait for it. */
        PMPI_Exscan(call->send, task->room->receive, count, MPI_DOUBLE, MPI_SUM, comm);
    else if (call->collective == COLL_REDUCE_SCATTER)
        PMPI_Reduce_scatter(call->send, call->receive, task->room->counts, MPI_DOUBLE, MPI_SUM, comm);
    else
        PMPI_Reduce_scatter_block(call->send, call->receive, count, MPI_DOUBLE, MPI_SUM, comm);
}
