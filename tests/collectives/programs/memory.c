/* Long messages, and what they leave: `memory r|a|g MIB` calls MPI_Allreduce, or MPI_Alltoall in place (g: elements with a gap
 * behind each on the last rank); printed is by how many MiB the most that a rank ever had has grown by then, and how much of that
 * it still has. Wrong data is status 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long mebibytes(const char *key)
{
    char line[256];
    long kibibytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            kibibytes = atol(line + strlen(key) + 1);
    if (file != NULL)
        fclose(file);
    return kibibytes >> 10;
}

int main(int argc, char **argv)
{
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t bytes = (size_t)atoi(argv[2]) << 20;
    int count = (int)(bytes / sizeof(int));
    int *data = malloc(bytes), *result = malloc(bytes);
    for (int i = 0; i < count; i++)
        data[i] = i % 1000 + rank, result[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    long before = mebibytes("VmRSS");
    if (argv[1][0] == 'r') {
        MPI_Allreduce(data, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < count; i++)
            wrong += result[i] != ranks * (i % 1000) + ranks * (ranks - 1) / 2;
    } else {
        int stride = argv[1][0] == 'g' && rank == ranks - 1 ? 2 : 1, block = count / ranks / 2;
        MPI_Datatype type;
        MPI_Type_create_resized(MPI_INT, 0, stride * (MPI_Aint)sizeof(int), &type);
        MPI_Type_commit(&type);
        for (int i = 0; i < block * ranks; i++)
            data[i * stride] = i % 1000 + rank;
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, block, type, MPI_COMM_WORLD);
        for (int i = 0; i < block * ranks; i++)
            wrong += data[i * stride] != (rank * block + i % block) % 1000 + i / block;
        MPI_Type_free(&type);
    }
    long peak = mebibytes("VmHWM") - before, left = mebibytes("VmRSS") - before;
    int mine[] = {(int)peak, (int)left, wrong}, most[3];
    MPI_Reduce(mine, most, 3, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d %d\n", most[0], most[1]);
    free(data);
    free(result);
    MPI_Finalize();
    return wrong != 0;
}
