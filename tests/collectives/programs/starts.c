/* Several threads ask libunisono at once, each on a communicator of its own, and nobody has before. Another one does not
 * ask, and calls meanwhile. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include <mpi.h>

enum { THREADS = 4, COUNT = 1000, CALLS = 50 };

static MPI_Comm own[THREADS + 1];
static int answers[THREADS], wrong;
static pthread_barrier_t gate;

static void *ask(void *argument)
{
    const int thread = (int)(long)argument;
    int (*applies)(MPI_Comm, const char *, long long, int), (*use)(MPI_Comm, const char *, const char *);
    int data[COUNT], sums[COUNT], ranks;
    *(void **)&applies = dlsym(RTLD_DEFAULT, "unisono_applies");
    *(void **)&use = dlsym(RTLD_DEFAULT, "unisono_use");
    MPI_Comm_size(own[thread], &ranks);
    pthread_barrier_wait(&gate);
    answers[thread] = use(own[thread], "allreduce", "unisono/cells") == 0 &&
                      applies(own[thread], "allreduce", (long long)sizeof data, 4) == 1;
    for (int i = 0; i < COUNT; i++)
        data[i] = i + thread;
    MPI_Allreduce(data, sums, COUNT, MPI_INT, MPI_SUM, own[thread]);
    for (int i = 0; i < COUNT; i++)
        if (sums[i] != ranks * (i + thread))
            __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void *call(void *argument)
{
    int one = 1, sum = 0, ranks;
    (void)argument;
    MPI_Comm_size(own[THREADS], &ranks);
    pthread_barrier_wait(&gate);
    for (int i = 0; i < CALLS; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, own[THREADS]);
        if (sum != ranks)
            __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level, rank, any;
    pthread_t threads[THREADS + 1];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE)
        return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i <= THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    pthread_barrier_init(&gate, NULL, THREADS + 1);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, ask, (void *)i);
    pthread_create(&threads[THREADS], NULL, call, NULL);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        wrong |= !answers[i];
    }
    pthread_join(threads[THREADS], NULL);
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        puts(any ? "wrong" : "right");
    for (int i = 0; i <= THREADS; i++)
        MPI_Comm_free(&own[i]);
    MPI_Finalize();
    return 0;
}
