/* Point to point, one-sided, files: every call goes to the next rank of a ring. */
#include <string.h>

#include "truth.h"

static char a[1 << 16], b[1 << 16];
static const MPI_Comm world = MPI_COMM_WORLD;
static int next, before;

static void blocking(void)
{
    MPI_Status status;
    MPI_Message message;
    char room[4096];
    const int P = ranks;
    /* Even ranks send first; sizes differ from what the receiver has room for. */
    for (int turn = 0; turn < 2; turn++) {
        if (turn == rank % 2) {
            MPI_Send(a, 25, MPI_DOUBLE, next, 1, world);
            truth("MPI_Send", P, 1, 200, 200, 0);
        } else {
            MPI_Recv(b, 1000, MPI_DOUBLE, before, 1, world, turn == 0 ? MPI_STATUS_IGNORE : &status);
            truth("MPI_Recv", P, 1, 200, 0, 200);
        }
    }
    MPI_Sendrecv(a, 11, MPI_CHAR, next, 2, b, 500, MPI_CHAR, before, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
    truth("MPI_Sendrecv", P, 1, 11, 11, 11);
    MPI_Sendrecv_replace(a, 12, MPI_CHAR, next, 2, before, 2, world, &status);
    truth("MPI_Sendrecv_replace", P, 1, 12, 12, 12);
    MPI_Sendrecv(a, 13, MPI_CHAR, rank == 0 ? next : MPI_PROC_NULL, 2, b, 500, MPI_CHAR,
                 rank == 1 ? before : MPI_PROC_NULL, 2, world, MPI_STATUS_IGNORE);
    truth("MPI_Sendrecv", P, 1, rank < 2 ? 13 : -1, rank == 0 ? 13 : 0, rank == 1 ? 13 : 0);
    MPI_Send(a, 99, MPI_CHAR, MPI_PROC_NULL, 0, world);
    truth("MPI_Send", P, 1, -1, 0, 0);
    MPI_Recv(b, 99, MPI_CHAR, MPI_PROC_NULL, 0, world, MPI_STATUS_IGNORE);
    truth("MPI_Recv", P, 1, -1, 0, 0);

    MPI_Buffer_attach(room, sizeof room);
    truth("MPI_Buffer_attach", -1, 1, -1, 0, 0);
    MPI_Bsend(a, 21, MPI_CHAR, next, 3, world);
    truth("MPI_Bsend", P, 1, 21, 21, 0);
    MPI_Probe(before, 3, world, &status);
    truth("MPI_Probe", P, 1, -1, 0, 0);
    MPI_Mprobe(before, 3, world, &message, &status);
    truth("MPI_Mprobe", P, 1, -1, 0, 0);
    MPI_Mrecv(b, 100, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    truth("MPI_Mrecv", -1, 1, 21, 0, 21);
    void *was;
    int size;
    MPI_Buffer_detach(&was, &size);
    truth("MPI_Buffer_detach", -1, 1, -1, 0, 0);
    /* To itself: the receive is there before. */
    MPI_Request r;
    MPI_Irecv(b, 100, MPI_CHAR, rank, 4, world, &r);
    truth("MPI_Irecv", P, 1, 100, 0, -1);
    MPI_Rsend(a, 22, MPI_CHAR, rank, 4, world);
    truth("MPI_Rsend", P, 1, 22, 22, 0);
    MPI_Wait(&r, &status);
    MPI_Irecv(b, 100, MPI_CHAR, rank, 5, world, &r);
    truth("MPI_Irecv", P, 1, 100, 0, -1);
    MPI_Ssend(a, 23, MPI_CHAR, rank, 5, world);
    truth("MPI_Ssend", P, 1, 23, 23, 0);
    MPI_Wait(&r, &status);
    truth("MPI_Wait", -1, 2, -1, 0, 0);
}

enum { MANY = 20 };

/* Twenty messages, the last one posted completed first. */
static void nonblocking(void)
{
    MPI_Request r[2 * MANY];
    int flag = 0, index;
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(b + i * 1000, 1000, MPI_CHAR, before, 100 + i, world, &r[i]);
        truth("MPI_Irecv", ranks, 1, 1000, 0, -1);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        MPI_Isend(a, 300 + i, MPI_CHAR, next, 100 + i, world, &r[MANY + i]);
        truth("MPI_Isend", ranks, 1, i < MANY - 16 ? -300 - i : 300 + i, 300 + i, 0);
    }
    for (int i = MANY - 1; i >= 2; i--)
        MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    truth("MPI_Wait", -1, MANY - 2, -1, 0, 0);
    MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
    truth("MPI_Waitany", -1, 1, -1, 0, 0);
    MPI_Waitall(2 * MANY, r, MPI_STATUSES_IGNORE);
    truth("MPI_Waitall", -1, 1, -1, 0, 0);
    long tests = 0;
    MPI_Irecv(b, 1, MPI_CHAR, rank, 7, world, &r[0]);
    truth("MPI_Irecv", ranks, 1, 1, 0, -1);
    for (; tests < 5; tests++)
        MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    MPI_Issend(a, 1, MPI_CHAR, rank, 7, world, &r[1]);
    truth("MPI_Issend", ranks, 1, 1, 1, 0);
    for (flag = 0; !flag; tests++)
        MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    truth("MPI_Test", -1, tests, -1, 0, 0);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    truth("MPI_Wait", -1, 1, -1, 0, 0);
}

/* More than can be remembered would show as starts of unknown size. */
static void persistent(void)
{
    MPI_Request r[3];
    MPI_Send_init(a, 50, MPI_CHAR, next, 9, world, &r[0]);
    truth("MPI_Send_init", ranks, 1, 50, 0, 0);
    MPI_Recv_init(b, 50, MPI_CHAR, before, 9, world, &r[1]);
    truth("MPI_Recv_init", ranks, 1, 50, 0, 0);
    for (int i = 0; i < 10; i++) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    truth("MPI_Startall", ranks, 10, 50, 500, -1);
    truth("MPI_Waitall", -1, 10, -1, 0, 0);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    for (int i = 0; i < 20000; i++) {
        MPI_Send_init(a, 51, MPI_CHAR, next, 9, world, &r[2]);
        MPI_Request_free(&r[2]);
    }
    truth("MPI_Send_init", ranks, 20000, 51, 0, 0);
    MPI_Send_init(a, 52, MPI_CHAR, MPI_PROC_NULL, 9, world, &r[2]);
    truth("MPI_Send_init", ranks, 1, -1, 0, 0);
    MPI_Start(&r[2]);
    truth("MPI_Start", ranks, 1, -1, 0, 0);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    truth("MPI_Wait", -1, 1, -1, 0, 0);
    MPI_Request_free(&r[2]);
    truth("MPI_Request_free", -1, 20003, -1, 0, 0);
}

static void one_sided(void)
{
    MPI_Win window;
    long value = 1, result, *base;
    MPI_Win_allocate(1 << 12, 8, MPI_INFO_NULL, world, &base, &window);
    truth("MPI_Win_allocate", ranks, 1, -1, 0, 0);
    memset(base, 0, 1 << 12);
    MPI_Win_fence(0, window);
    MPI_Put(a, 10, MPI_LONG, next, 0, 10, MPI_LONG, window);
    truth("MPI_Put", -1, 1, 80, 80, 0);
    MPI_Put(a, 10, MPI_LONG, MPI_PROC_NULL, 0, 10, MPI_LONG, window);
    truth("MPI_Put", -1, 1, -1, 0, 0);
    MPI_Win_fence(0, window);
    MPI_Get(b, 11, MPI_LONG, next, 0, 11, MPI_LONG, window);
    truth("MPI_Get", -1, 1, 88, 0, 88);
    MPI_Win_fence(0, window);
    MPI_Accumulate(a, 12, MPI_LONG, next, 0, 12, MPI_LONG, MPI_SUM, window);
    truth("MPI_Accumulate", -1, 1, 96, 96, 0);
    MPI_Win_fence(0, window);
    truth("MPI_Win_fence", -1, 4, -1, 0, 0);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window);
    truth("MPI_Win_lock", -1, 1, -1, 0, 0);
    MPI_Get_accumulate(a, 5, MPI_LONG, b, 5, MPI_LONG, next, 0, 5, MPI_LONG, MPI_SUM, window);
    truth("MPI_Get_accumulate", -1, 1, 40, 40, 40);
    MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, b, 6, MPI_LONG, next, 0, 6, MPI_LONG, MPI_NO_OP, window);
    truth("MPI_Get_accumulate", -1, 1, 48, 0, 48);
    MPI_Fetch_and_op(&value, &result, MPI_LONG, next, 20, MPI_SUM, window);
    truth("MPI_Fetch_and_op", -1, 1, 8, 8, 8);
    MPI_Compare_and_swap(&value, &value, &result, MPI_LONG, next, 21, window);
    truth("MPI_Compare_and_swap", -1, 1, 8, 8, 8);
    MPI_Win_flush(next, window);
    truth("MPI_Win_flush", -1, 1, -1, 0, 0);
    MPI_Win_unlock(next, window);
    truth("MPI_Win_unlock", -1, 1, -1, 0, 0);
    MPI_Win_free(&window);
    truth("MPI_Win_free", -1, 1, -1, 0, 0);
}

static void files(const char *name)
{
    MPI_File file;
    MPI_Status status;
    MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    truth("MPI_File_open", ranks, 1, -1, 0, 0);
    MPI_File_write_at(file, rank * 1000, a, 100, MPI_LONG, &status);
    truth("MPI_File_write_at", -1, 1, 800, 800, 0);
    MPI_File_read_at_all(file, rank * 1000, b, 100, MPI_LONG, &status);
    truth("MPI_File_read_at_all", -1, 1, 800, 0, 800);
    MPI_File_close(&file);
    truth("MPI_File_close", -1, 1, -1, 0, 0);
}

/* A communicator in which ranks are the other way round: partners are the world's. */
static void reversed(void)
{
    MPI_Comm back;
    char c = 0;
    MPI_Comm_split(world, 0, ranks - rank, &back);
    truth("MPI_Comm_split", ranks, 1, -1, 0, 0);
    if (rank == 0)
        MPI_Send(&c, 1, MPI_CHAR, 0, 0, back); /* to the world's last */
    if (rank == ranks - 1)
        MPI_Recv(&c, 1, MPI_CHAR, ranks - 1, 0, back, MPI_STATUS_IGNORE);
    if (rank == 0)
        truth("MPI_Send", ranks, 1, 1, 1, 0);
    if (rank == ranks - 1)
        truth("MPI_Recv", ranks, 1, 1, 0, 1);
    MPI_Comm_free(&back);
    truth("MPI_Comm_free", -1, 1, -1, 0, 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    truth_open(argv[1]);
    next = (rank + 1) % ranks;
    before = (rank + ranks - 1) % ranks;
    blocking();
    nonblocking();
    persistent();
    reversed();
    one_sided();
    files(argv[2]);
    MPI_Finalize();
    return fclose(truth_file) != 0;
}
