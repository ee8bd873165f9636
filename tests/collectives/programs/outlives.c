/* A session whose operations are under way while MPI_Finalize ends the world: they are no part of it (MPI 4.1, 11.2.2). With "late"
 * rank 1 starts them after MPI_Finalize. "right" by each rank that got the sums. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
static int one = 1, mine = 1;
static int sum, kept_sum;

static void start(MPI_Comm comm, MPI_Request *kept, MPI_Request *request)
{
    MPI_Start(kept);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, request);
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Request request, kept;
    int rank, ranks, wrong = 0;
    const int late = argc > 1 && strcmp(argv[1], "late") == 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Init(&argc, &argv);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "outlives", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Allreduce_init(&mine, &kept_sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &kept);
    for (int i = 0; i < 10; i++) {
        sum = kept_sum = 0;
        start(comm, &kept, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Wait(&kept, MPI_STATUS_IGNORE);
        wrong |= sum != ranks || kept_sum != ranks;
    }
    sum = kept_sum = 0;
    if (!late || rank == 0)
        start(comm, &kept, &request);
    MPI_Finalize();
    if (late && rank != 0)
        start(comm, &kept, &request);
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong |= sum != ranks || kept_sum != ranks;
    puts(wrong ? "wrong" : "right");
    fflush(stdout);
    MPI_Request_free(&kept);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
#else
int main(void)
{
    puts("none");
    return 0;
}
#endif
