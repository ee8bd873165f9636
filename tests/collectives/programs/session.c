/* A session with MPI_THREAD_MULTIPLE, opened before an MPI_Init that asks for one thread; two communicators of the same ranks are made
 * from it, which two threads use at once. "right" where every call gives what it should. */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
enum { LONGEST = 9000 };

static MPI_Comm comms[2];
static int rank, ranks, rounds, wrong;

static void *run(void *argument)
{
    const int which = *(int *)argument;
    int send[LONGEST], sums[LONGEST];
    for (int round = 0; round < rounds; round++) {
        const int count = round % 7 == 3 ? LONGEST : round % 3 ? 9 : 700, root = round % ranks;
        int bad = 0, mine = rank + round + which, sum = -1;
        for (int i = 0; i < count; i++)
            send[i] = i + round + rank * (3 + which), sums[i] = -1;
        MPI_Allreduce(send, sums, count, MPI_INT, MPI_SUM, comms[which]);
        for (int i = 0; i < count; i++)
            bad |= sums[i] != ranks * (i + round) + ranks * (ranks - 1) / 2 * (3 + which);
        MPI_Bcast(send, count, MPI_INT, root, comms[which]);
        for (int i = 0; i < count; i++)
            bad |= send[i] != i + round + root * (3 + which);
        MPI_Request request;
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms[which], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        bad |= sum != ranks * (round + which) + ranks * (ranks - 1) / 2;
        if (bad)
            __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level, any, found, which[] = {0, 1};
    char given[64] = "";
    MPI_Session session;
    MPI_Info info, used;
    MPI_Group group;
    pthread_t threads[2];
    rounds = atoi(argv[1]);
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
    MPI_Session_get_info(session, &used);
    MPI_Info_get(used, "thread_level", sizeof given - 1, given, &found);
    MPI_Info_free(&used);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comms[0]);
    MPI_Comm_create_from_group(group, "second", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comms[1]);
    MPI_Group_free(&group);
    MPI_Comm_rank(comms[0], &rank);
    MPI_Comm_size(comms[0], &ranks);
    if (strcmp(given, "MPI_THREAD_MULTIPLE") == 0) {
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, run, &which[i]);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        puts(strcmp(given, "MPI_THREAD_MULTIPLE") != 0 ? "none" : any ? "wrong" : "right");
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return 0;
}
#else
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    puts("none");
    MPI_Finalize();
    return 0;
}
#endif
