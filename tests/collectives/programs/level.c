/* "kept" by every rank whose MPI still says MPI_THREAD_MULTIPLE after calls that rules give to a component. */
#include <mpi.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    int provided, level, mine = 1, sum;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < 4; i++)
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Query_thread(&level);
    puts(level == provided ? "kept" : "lowered");
    MPI_Finalize();
    return 0;
}
