/* Several threads in collectives at a time, each on communicators of its own, which come and go, and with datatypes that
 * all of them meet for the first time at once. */
#include <pthread.h>
#include <stdio.h>

#include <mpi.h>

enum { THREADS = 4, LIVES = 12, CALLS = 12, COUNT = 3000, TYPES = 500 };

static MPI_Comm own[THREADS];
static MPI_Datatype met[TYPES];
static pthread_barrier_t gate;
static int rank, ranks, wrong;

static void check(int good)
{
    if (!good)
        __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
}

static void meet(int thread)
{
    for (int type = 0; type < TYPES; type++) {
        int data[12]; /* two elements of three integers with gaps between */
        for (int i = 0; i < 12; i++)
            data[i] = rank == 0 ? type + i : -1;
        pthread_barrier_wait(&gate);
        MPI_Bcast(data, 2, met[type], 0, own[thread]);
        check(data[0] == type && data[2] == type + 2 && data[9] == type + 9);
    }
}

static void *work(void *argument)
{
    const int thread = (int)(long)argument;
    static _Thread_local int data[COUNT], sums[COUNT];
    meet(thread);
    for (int life = 0; life < LIVES; life++) {
        MPI_Comm comm;
        MPI_Comm_dup(own[thread], &comm);
        for (int call = 0; call < CALLS; call++) {
            for (int i = 0; i < COUNT; i++)
                data[i] = rank + i + call + thread;
            MPI_Allreduce(data, sums, COUNT, MPI_INT, MPI_SUM, comm);
            check(sums[COUNT - 1] == ranks * (ranks - 1) / 2 + ranks * (COUNT - 1 + call + thread));
            MPI_Bcast(data, COUNT, MPI_INT, call % ranks, comm);
            check(data[7] == call % ranks + 7 + call + thread);
            MPI_Barrier(comm);
        }
        MPI_Comm_free(&comm);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level, any;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE)
        return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    for (int i = 0; i < TYPES; i++) {
        MPI_Type_vector(3, 1, 2, MPI_INT, &met[i]);
        MPI_Type_commit(&met[i]);
    }
    pthread_barrier_init(&gate, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < TYPES; i++)
        MPI_Type_free(&met[i]);
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        puts(any ? "wrong" : "right");
    MPI_Finalize();
    return 0;
}
