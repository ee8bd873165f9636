/* One rank has no memory for new communicators, datatypes and choices: results are right all the same, and printed is how often
 * the library was refused memory on that rank. */
#include <mpi.h>
#include <stdio.h>

extern int starving;
extern long refused;

static int wrong;

static void use(MPI_Comm comm)
{
    int rank, ranks, counts[8], at[8], from[8], to[8];
    MPI_Datatype pair;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int round = 0; round < 40; round++) {
        int one = rank + round, sum = 0, data[3] = {rank == 0 ? round : -1, 7, rank == 0 ? round + 1 : -1};
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        wrong += sum != ranks * round + ranks * (ranks - 1) / 2;
        MPI_Bcast(data, 1, pair, 0, comm);
        wrong += data[0] != round || data[1] != 7 || data[2] != round + 1;
        for (int i = 0; i < ranks; i++)
            counts[i] = 1, at[i] = i, from[i] = 100 * rank + i + round;
        MPI_Alltoallv(from, counts, at, MPI_INT, to, counts, at, MPI_INT, comm);
        for (int i = 0; i < ranks; i++)
            wrong += to[i] != 100 * i + rank + round;
    }
    MPI_Type_free(&pair);
}

int main(int count, char **arguments)
{
    int rank;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    use(MPI_COMM_WORLD);
    starving = rank == 1;
    for (int i = 0; i < 10; i++) {
        MPI_Comm copy, reversed;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
        use(copy);
        use(reversed);
        use(MPI_COMM_WORLD);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&reversed);
    }
    starving = 0;
    if (rank == 1)
        printf("%s, refused %ld\n", wrong ? "wrong" : "right", refused);
    MPI_Finalize();
    return wrong != 0;
}
