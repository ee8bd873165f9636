/* Says where each rank is, then does what it is told: segv, exit, abort, hang, stray, echo (until "quit") or nothing. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say_where(int rank)
{
    MPI_Comm here;
    int node;
    cpu_set_t set;
    char host[256], cpus[4096] = "";
    size_t used = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    node = rank;
    MPI_Bcast(&node, 1, MPI_INT, 0, here); /* the world rank of the node's first rank names the node */
    gethostname(host, sizeof host);
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < CPU_SETSIZE && used < sizeof cpus - 8; cpu++)
        if (CPU_ISSET(cpu, &set))
            used += (size_t)sprintf(cpus + used, "%s%d", used ? "," : "", cpu);
    printf("where %d %s %d %s\n", rank, host, node, cpus);
    fflush(stdout);
    MPI_Comm_free(&here);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    say_where(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(what, "segv") && rank == size - 1)
        raise(SIGSEGV);
    if (!strcmp(what, "exit") && rank == size - 1)
        exit(3);
    if (!strcmp(what, "hang")) {
        signal(SIGTERM, SIG_IGN);
        for (;;)
            pause();
    }
    if (!strcmp(what, "stray")) { /* leaves the process group, as daemons do */
        if (rank == 0)
            setsid();
        for (;;)
            pause();
    }
    if (!strcmp(what, "echo")) {
        char line[256];
        int more = 1;
        while (more) {
            if (rank == 0) {
                more = fgets(line, sizeof line, stdin) != NULL && strcmp(line, "quit\n") != 0;
                if (more)
                    printf("heard %s", line);
                fflush(stdout);
            }
            MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
