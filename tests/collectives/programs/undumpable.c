/* Rank `argv[1]` gives away after MPI_Init what lets others read and write its memory; half of the calls come before. What lets any
 * process do so whatever the other says is given away at first. With another argument two threads do so at once, each on a communicator of
 * its own. "right" where every call gives what it should. */
#include <mpi.h>

#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { EACH = 30011, ROUNDS = 6, THREADS = 2 };

static int rank, ranks, who;
static _Atomic int wrong;
static _Thread_local MPI_Comm comm;

static void drop_ptrace(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) != 0)
        return;
    data[0].effective &= ~(1u << CAP_SYS_PTRACE);
    data[0].permitted &= ~(1u << CAP_SYS_PTRACE);
    syscall(SYS_capset, &header, data);
}

/* Whether a rank can read the memory of `other`. */
static int can_read(int other)
{
    long word = rank, read = -1;
    long process[2] = {getpid(), (long)&word};
    MPI_Bcast(process, 2, MPI_LONG, other, MPI_COMM_WORLD);
    struct iovec here = {&read, sizeof read}, there = {(void *)process[1], sizeof read};
    int good = rank == other || process_vm_readv((pid_t)process[0], &here, 1, &there, 1, 0) == sizeof read, all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD); /* until then it is there */
    return all;
}

static int value(int from, int at, int round)
{
    return from * 7 + at + round;
}

static int sum(int at, int round)
{
    return ranks * (ranks - 1) / 2 * 7 + ranks * (at + round);
}

static void look(const char *what, int error, int good)
{
    if (error == MPI_SUCCESS && good)
        return;
    fprintf(stderr, "wrong: %s on rank %d, error %d\n", what, rank, error);
    wrong = 1;
}

static int are_sums(const int *found, int count, int from, int round)
{
    for (int i = 0; i < count; i++)
        if (found[i] != sum(from + i, round))
            return 0;
    return 1;
}

static int are_values(const int *found, int count, int rank_of, int from, int round)
{
    for (int i = 0; i < count; i++)
        if (found[i] != value(rank_of, from + i, round))
            return 0;
    return 1;
}

static void fill(int *send, int *receive, int round)
{
    for (int i = 0; i < ranks * EACH; i++)
        send[i] = value(rank, i, round), receive[i] = -1;
}

static void sums(int *send, int *receive, int round)
{
    const int all = ranks * EACH, root = round % ranks;
    fill(send, receive, round);
    int error = MPI_Allreduce(send, receive, all, MPI_INT, MPI_SUM, comm);
    look("allreduce", error, are_sums(receive, all, 0, round));
    fill(receive, send, round);
    error = MPI_Allreduce(MPI_IN_PLACE, receive, all, MPI_INT, MPI_SUM, comm);
    look("allreduce in place", error, are_sums(receive, all, 0, round));
    fill(send, receive, round);
    error = MPI_Reduce(send, receive, all, MPI_INT, MPI_SUM, root, comm);
    look("reduce", error, rank != root || are_sums(receive, all, 0, round));
    fill(send, receive, round);
    error = MPI_Reduce_scatter_block(send, receive, EACH, MPI_INT, MPI_SUM, comm);
    look("reduce_scatter_block", error, are_sums(receive, EACH, rank * EACH, round));
}

static void blocks(int *send, int *receive, int round)
{
    const int root = round % ranks;
    int good = 1;
    fill(send, receive, round);
    int error = MPI_Allgather(send, EACH, MPI_INT, receive, EACH, MPI_INT, comm);
    for (int i = 0; i < ranks; i++)
        good = good && are_values(receive + i * EACH, EACH, i, 0, round);
    look("allgather", error, good);
    fill(send, receive, round);
    error = MPI_Alltoall(send, EACH, MPI_INT, receive, EACH, MPI_INT, comm);
    good = 1;
    for (int i = 0; i < ranks; i++)
        good = good && are_values(receive + i * EACH, EACH, i, rank * EACH, round);
    look("alltoall", error, good);
    fill(send, receive, round);
    error = MPI_Bcast(rank == root ? send : receive, ranks * EACH, MPI_INT, root, comm);
    look("bcast", error, are_values(rank == root ? send : receive, ranks * EACH, root, 0, round));
    fill(send, receive, round);
    error = MPI_Gather(send, EACH, MPI_INT, receive, EACH, MPI_INT, root, comm);
    good = 1;
    for (int i = 0; i < ranks && rank == root; i++)
        good = good && are_values(receive + i * EACH, EACH, i, 0, round);
    look("gather", error, good);
    fill(send, receive, round);
    error = MPI_Scatter(send, EACH, MPI_INT, receive, EACH, MPI_INT, root, comm);
    look("scatter", error, are_values(receive, EACH, root, rank * EACH, round));
}

static void *rounds(void *own)
{
    comm = *(MPI_Comm *)own;
    const size_t bytes = (size_t)ranks * EACH * sizeof(int);
    int *send = malloc(bytes), *receive = malloc(bytes);
    for (int round = 0; round < ROUNDS; round++) {
        if (round == ROUNDS / 2 && rank == who)
            prctl(PR_SET_DUMPABLE, 0);
        MPI_Barrier(comm);
        sums(send, receive, round);
        blocks(send, receive, round);
    }
    free(send);
    free(receive);
    return NULL;
}

int main(int argc, char **argv)
{
    int level, threads = argc > 2 ? THREADS : 1;
    pthread_t thread[THREADS];
    MPI_Comm own[THREADS];
    drop_ptrace();
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    who = atoi(argv[1]);
    const int could = can_read(who) && (threads == 1 || level == MPI_THREAD_MULTIPLE);
    for (int i = 0; i < threads && could; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    for (int i = 1; i < threads && could; i++)
        pthread_create(&thread[i], NULL, rounds, &own[i]);
    if (could)
        rounds(&own[0]);
    for (int i = 1; i < threads && could; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < threads && could; i++)
        MPI_Comm_free(&own[i]);
    int any, can = can_read(who), mine = wrong;
    MPI_Reduce(&mine, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        puts(!could ? "never" : any ? "wrong" : can ? "still" : "right");
    MPI_Finalize();
    return 0;
}
