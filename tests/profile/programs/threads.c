/* Several threads in MPI at a time, each sending to itself on its own communicator and on a shared one. */
#include <pthread.h>

#include "truth.h"

enum { THREADS = 20, TIMES = 300 }; /* more threads than the recorder has tables */

static MPI_Comm own[THREADS];

static void *work(void *argument)
{
    const int thread = (int)(long)argument;
    for (int i = 0; i < TIMES; i++) {
        char out[64] = {0}, in[64];
        MPI_Request request;
        int sum, one = 1;
        MPI_Irecv(in, 64, MPI_CHAR, rank, thread, MPI_COMM_WORLD, &request);
        MPI_Send(out, 1 + thread, MPI_CHAR, rank, thread, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, own[thread]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    truth_open(argv[1]);
    if (level != MPI_THREAD_MULTIPLE)
        return 77;
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    truth("MPI_Comm_dup", 1, THREADS, -1, 0, 0);
    truth("MPI_Irecv", ranks, THREADS * TIMES, 64, 0, -1);
    for (int i = 0; i < THREADS; i++)
        truth("MPI_Send", ranks, TIMES, 1 + i, TIMES * (1 + i), 0);
    truth("MPI_Wait", -1, THREADS * TIMES, -1, 0, 0);
    truth("MPI_Allreduce", 1, THREADS * TIMES, 4, THREADS * TIMES * 4, THREADS * TIMES * 4);
    MPI_Finalize();
    return fclose(truth_file) != 0;
}
