/* Calls of MPI_Allreduce that only differ by when they are made: the size says when. */
#include <mpi.h>

static char a[64], b[64];

static void call(int size)
{
    MPI_Allreduce(a, b, size, MPI_CHAR, MPI_MAX, MPI_COMM_SELF);
}

int main(int argc, char **argv)
{
    int flag;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    call(1);
    MPI_Pcontrol(2); /* forget that */
    call(2);
    MPI_Pcontrol(0);
    call(3);
    MPI_Pcontrol(1);
    call(4);
    MPI_Pcontrol(3, "solve");
    call(5);
    MPI_Pcontrol(3, "inner");
    call(6);
    MPI_Pcontrol(4, "");
    call(7);
    MPI_Pcontrol(3, "");
    MPI_Pcontrol(3, (char *)1); /* other tools' arguments */
    MPI_Pcontrol(3, "");
    call(8);
    for (int i = 9; i < 29; i++) /* 16 sizes and four more */
        call(i);
    MPI_Finalize();
    return 0;
}
