/* One thread's communicators are those that rules send to a copy; another thread makes communicators meanwhile, whose
 * collectives must be what they were. The argument: how many each makes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

enum { CALLS = 4, COUNT = 20000 };

static MPI_Comm first, second;
static int rounds, rank, ranks, wrong;

static void *serve(void *unused)
{
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(first, &comm);
        for (int call = 0; call < CALLS; call++) {
            int mine = rank + call, sum = 0;
            MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
            if (sum != ranks * (ranks - 1) / 2 + ranks * call)
                __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
        }
        MPI_Comm_free(&comm);
    }
    return unused;
}

static void *make(void *unused)
{
    static double mine[COUNT], sum[COUNT];
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        MPI_Comm_dup(second, &comm);
        for (int i = 0; i < COUNT; i++)
            mine[i] = rank + i;
        MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, comm);
        for (int i = 0; i < COUNT; i++)
            if (sum[i] != ranks * (ranks - 1) / 2.0 + (double)ranks * i)
                __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
        MPI_Comm_free(&comm);
    }
    return unused;
}

int main(int argc, char **argv)
{
    int level, any;
    pthread_t threads[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE)
        return 77;
    rounds = atoi(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    pthread_create(&threads[0], NULL, serve, NULL);
    pthread_create(&threads[1], NULL, make, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        puts(any ? "wrong" : "right");
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    MPI_Finalize();
    return 0;
}
