/* Nonblocking collectives and the calls that complete them, each way in a phase of its own; on two ranks. With the word
 * "threads" several threads do so at a time, and each waits for what another began; with "forgotten" recording begins anew
 * in between. */
#include "stamp.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 5, LATE = 20000, MANY = 2100, THREADS = 6, TIMES = 200 };

static int rank;
static MPI_Comm world = MPI_COMM_WORLD, other;
static double in[64], out[64];

static void phase(const char *name)
{
    MPI_Pcontrol(3, "");
    MPI_Barrier(world);
    MPI_Pcontrol(3, name);
}

static MPI_Request begun(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Iallreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, comm, &request);
    return request;
}

static void one_by_one(void)
{
    MPI_Request request;
    int place, count, flag = 0;
    phase("late"); /* rank 0 waits until rank 1 has begun as well, and each says when it comes */
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 1) {
            MPI_Recv(in, 0, MPI_DOUBLE, 0, 1, world, MPI_STATUS_IGNORE);
            usleep(LATE);
        } else {
            MPI_Send(in, 0, MPI_DOUBLE, 1, 1, world);
        }
        stamp("Iallreduce");
        request = begun(world);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    phase("polled");
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 1)
            usleep(LATE / 10);
        request = begun(world);
        for (flag = 0; !flag;)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    phase("any");
    request = begun(world);
    MPI_Waitany(1, &request, &place, MPI_STATUS_IGNORE);
    phase("some");
    request = begun(world);
    MPI_Waitsome(1, &request, &count, &place, MPI_STATUSES_IGNORE);
    phase("tested");
    request = begun(world);
    for (flag = 0; !flag;)
        MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
    request = begun(world);
    for (flag = 0; !flag;)
        MPI_Testany(1, &request, &place, &flag, MPI_STATUS_IGNORE);
    request = begun(world);
    for (count = 0; count == 0;)
        MPI_Testsome(1, &request, &count, &place, MPI_STATUSES_IGNORE);
}

static void several(void)
{
    MPI_Request requests[4];
    phase("two"); /* they share the wait */
    for (int i = 0; i < ROUNDS; i++) {
        requests[0] = begun(world);
        requests[1] = MPI_REQUEST_NULL;
        MPI_Ibarrier(other, &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
    phase("mixed"); /* one of two requests is of a message */
    for (int i = 0; i < ROUNDS; i++) {
        requests[0] = begun(world);
        MPI_Irecv(in, 8, MPI_DOUBLE, 1 - rank, 3, world, &requests[1]);
        MPI_Send(out, 8, MPI_DOUBLE, 1 - rank, 3, world);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    phase("first"); /* the message is there first, of which rank 1 begins the collective only then */
    for (int i = 0; i < ROUNDS; i++) {
        int place, ready = 0;
        requests[1] = MPI_REQUEST_NULL;
        if (rank == 0) {
            requests[0] = begun(world);
            MPI_Irecv(in, 1, MPI_DOUBLE, 1, 4, world, &requests[1]);
            MPI_Waitany(2, requests, &place, MPI_STATUS_IGNORE);
            MPI_Send(out, 1, MPI_DOUBLE, 1, 5, world);
            ready = place == 1;
        } else {
            MPI_Send(out, 1, MPI_DOUBLE, 0, 4, world);
            MPI_Recv(in, 1, MPI_DOUBLE, 0, 5, world, MPI_STATUS_IGNORE);
            requests[0] = begun(world);
            ready = 1;
        }
        if (!ready)
            MPI_Abort(world, 3);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
}

/* Requests that are none of them, among those that are. */
static void others(void)
{
    MPI_Request requests[4];
    phase("persistent");
    MPI_Send_init(out, 8, MPI_DOUBLE, 1 - rank, 6, world, &requests[0]);
    MPI_Recv_init(in, 8, MPI_DOUBLE, 1 - rank, 6, world, &requests[1]);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Startall(2, requests);
        requests[2] = begun(world);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    phase("alone"); /* what ends at once, by one handle in some MPIs, and is waited for with a message */
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Ibarrier(MPI_COMM_SELF, &requests[0]);
        MPI_Isend(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 7, world, &requests[1]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    phase("freed");
    requests[0] = begun(world);
    MPI_Isend(out, 1, MPI_DOUBLE, 1 - rank, 8, world, &requests[1]);
    MPI_Request_free(&requests[1]);
    MPI_Recv(in, 1, MPI_DOUBLE, 1 - rank, 8, world, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    phase("unseen"); /* its handle is another request's then */
    for (int i = 0; i < ROUNDS; i++) {
        requests[0] = begun(world);
        MPI_Pcontrol(0);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Pcontrol(1);
        MPI_Irecv(in, 8, MPI_DOUBLE, 1 - rank, 9, world, &requests[0]);
        MPI_Send(out, 8, MPI_DOUBLE, 1 - rank, 9, world);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
}

static void many(void)
{
    static MPI_Request requests[MANY];
    phase("many");
    for (int i = 0; i < MANY; i++)
        MPI_Ibarrier(other, &requests[i]);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    phase("later");
    requests[0] = begun(world);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

/* All calls so far are forgotten while one is under way. */
static void forgotten(void)
{
    MPI_Request request = begun(world);
    MPI_Pcontrol(2);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(other);
    request = begun(world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static MPI_Comm own[THREADS];
static MPI_Request handed[THREADS];
static pthread_barrier_t together;

static void *work(void *argument)
{
    const int thread = (int)(long)argument, next = (thread + 1) % THREADS;
    int sent[TIMES], sums[TIMES];
    for (int i = 0; i < TIMES; i++) {
        MPI_Request mine;
        sent[i] = i;
        MPI_Iallreduce(&sent[i], &sums[i], 1, MPI_INT, MPI_SUM, own[thread], &handed[thread]);
        pthread_barrier_wait(&together);
        mine = handed[next];
        MPI_Wait(&mine, MPI_STATUS_IGNORE);
        pthread_barrier_wait(&together);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t running[THREADS];
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(world, &own[i]);
    phase("threads");
    for (long i = 0; i < THREADS; i++)
        pthread_create(&running[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(running[i], NULL);
    MPI_Pcontrol(3, "");
}

int main(int count, char **words)
{
    int level;
    if (count > 1 && strcmp(words[1], "threads") == 0) {
        MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
        MPI_Comm_rank(world, &rank);
        if (level != MPI_THREAD_MULTIPLE)
            return 77;
        threads();
    } else {
        MPI_Init(&count, &words);
        MPI_Comm_rank(world, &rank);
        MPI_Comm_dup(world, &other);
        if (count > 1) {
            forgotten();
        } else {
            one_by_one();
            several();
            others();
            many();
            MPI_Pcontrol(3, "");
        }
    }
    MPI_Finalize();
    return stamps_written(rank) ? 0 : 2;
}
