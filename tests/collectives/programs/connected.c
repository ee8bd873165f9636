/* connected halves: the even ranks of one job and its odd ones meet by a port.
 * connected accept|connect FILE: so do two jobs, of which the first writes its port there.
 * All call every collective together, in other groups, and each side among themselves; "right" at the end, "none" where the MPI opens no port. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "every.h"

static void publish(const char *port, const char *path)
{
    char hidden[4096];
    snprintf(hidden, sizeof hidden, "%s.part", path);
    FILE *file = fopen(hidden, "w");
    if (file == NULL || fputs(port, file) < 0 || fclose(file) != 0 || rename(hidden, path) != 0)
        abort();
}

static void wait_for(char *port, const char *path)
{
    FILE *file = NULL;
    while ((file = fopen(path, "r")) == NULL)
        usleep(20000);
    if (fgets(port, MPI_MAX_PORT_NAME, file) == NULL)
        abort();
    fclose(file);
}

static void meet(MPI_Comm between, MPI_Comm mine, int accepts)
{
    MPI_Comm merged, part;
    int place;
    MPI_Intercomm_merge(between, !accepts, &merged);
    every(merged, "both sides");
    MPI_Comm_rank(merged, &place);
    MPI_Comm_split(merged, place % 2, -place, &part);
    every(part, "half of both sides");
    MPI_Comm_free(&part);
    MPI_Comm_split(merged, accepts, -place, &part);
    every(part, "one side");
    MPI_Comm_free(&part);
    every(mine, "this side meanwhile");
    MPI_Comm_free(&merged);
}

int main(int count, char **arguments)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm mine = MPI_COMM_WORLD, between;
    int rank, opens, error = MPI_SUCCESS;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const int halves = strcmp(arguments[1], "halves") == 0;
    const int accepts = halves ? rank % 2 == 0 : strcmp(arguments[1], "accept") == 0;
    every(MPI_COMM_WORLD, "the world");
    opens = rank == 0 && accepts;
    if (opens)
        error = MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(&error, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (error != MPI_SUCCESS) {
        if (rank == 0)
            puts("none");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (halves) {
        MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &mine);
    } else if (opens) {
        publish(port, arguments[2]);
    } else if (rank == 0) {
        wait_for(port, arguments[2]);
    }
    if (accepts)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, mine, &between);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, mine, &between);
    meet(between, mine, accepts);
    MPI_Comm_free(&between);
    if (opens)
        MPI_Close_port(port);
    every(MPI_COMM_WORLD, "the world afterwards");
    if (mine != MPI_COMM_WORLD)
        MPI_Comm_free(&mine);
    MPI_Allreduce(MPI_IN_PLACE, &every_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(every_wrong > 0 ? "wrong" : "right");
    MPI_Finalize();
    return 0;
}
