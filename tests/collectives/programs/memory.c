/* Long messages, and what they leave: `memory HOW MIB`; printed is by how many MiB the most that a rank ever had has grown by
 * then, and how much of that it still has. Wrong data is status 1. HOW:
 *
 *     r   MPI_Allreduce; s: MPI_Reduce_scatter in place, of which the first rank gets three quarters
 *     a   MPI_Alltoall in place; g: elements of 12 bytes, and a gap behind each, on the last rank; G: on all ranks
 *     n   MPI_Alltoall, elements with gaps on the last rank; N: elements longer than a piece
 *     v   MPI_Alltoallv in place, blocks of several lengths; w: with gaps on the last rank; x: not in place, with gaps there;
 *         X: the same, elements longer than a piece
 *     y   MPI_Alltoallw, with gaps on the last rank; Y: elements as long as a block; z, Z: the same of neighbours, who are all
 *     b   MPI_Bcast, elements with gaps on the last rank */
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

/* Where number i is, in memory of elements of `parts` numbers with a gap as long behind each. */
static int place(int i, int parts)
{
    return i / parts * 2 * parts + i % parts;
}

static int value(int from, int to, int i)
{
    return 7 * from + 11 * to + i % 100003;
}

/* Every rank has all for neighbours, itself too. The third call is ours (UNISONO_PATIENCE=0); those before move nothing. */
static void with_neighbours(int ranks, int *data, int *result, const int *counts, const int *at,
                            const MPI_Datatype *types)
{
    static const int none[16];
    int all[16], weights[16];
    MPI_Aint far[16];
    MPI_Comm graph;
    for (int other = 0; other < ranks; other++)
        all[other] = other, weights[other] = 1, far[other] = at[other];
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, all, weights, ranks, all, weights, MPI_INFO_NULL, 0, &graph);
    for (int call = 0; call < 3; call++)
        MPI_Neighbor_alltoallw(data, call < 2 ? none : counts, far, types, result, call < 2 ? none : counts, far, types,
                               graph);
    MPI_Comm_free(&graph);
}

static int exchange(char how, int rank, int ranks, int *data, int *result, int count)
{
    int is_last = rank == ranks - 1, gaps = how == 'G' || (strchr("gnNwxXyYzZb", how) != NULL && is_last);
    int parts = how == 'N' || how == 'X'   ? 3000000
                : how == 'Y' || how == 'Z' ? count / ranks
                                           : 3,
        block = count / ranks / parts;
    int counts[16], at[16], wrong = 0, *to = strchr("nNxXyYzZ", how) != NULL ? result : data;
    MPI_Datatype part, type;
    MPI_Type_contiguous(parts, MPI_INT, &part);
    MPI_Type_create_resized(part, 0, (gaps ? 2 : 1) * parts * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Datatype types[16];
    for (int other = 0; other < ranks; other++) {
        counts[other] = strchr("vwx", how) != NULL ? block - 1000 * (rank + other) : block;
        at[other] = other * block;
        types[other] = type;
        for (int i = 0; i < block * parts; i++) {
            int k = other * block * parts + i;
            data[gaps ? place(k, parts) : k] = how == 'b' ? (rank == 0) * i : value(rank, other, i);
        }
    }
    if (strchr("agG", how) != NULL)
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, block, type, MPI_COMM_WORLD);
    else if (how == 'n' || how == 'N')
        MPI_Alltoall(data, block, type, result, block, type, MPI_COMM_WORLD);
    else if (how == 'v' || how == 'w')
        MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, at, type, MPI_COMM_WORLD);
    else if (how == 'x' || how == 'X')
        MPI_Alltoallv(data, counts, at, type, result, counts, at, type, MPI_COMM_WORLD);
    else if (strchr("yYzZ", how) != NULL) {
        for (int other = 0; other < ranks; other++)
            at[other] = other * block * (gaps ? 2 : 1) * parts * (int)sizeof(int);
        if (how == 'y' || how == 'Y')
            MPI_Alltoallw(data, counts, at, types, result, counts, at, types, MPI_COMM_WORLD);
        else
            with_neighbours(ranks, data, result, counts, at, types);
    } else
        MPI_Bcast(data, ranks * block, type, 0, MPI_COMM_WORLD);
    for (int other = 0; other < ranks; other++)
        for (int i = 0; i < counts[other] * parts; i++) {
            int k = other * block * parts + i;
            wrong += to[gaps ? place(k, parts) : k] != (how == 'b' ? i : value(other, rank, i));
        }
    MPI_Type_free(&part);
    MPI_Type_free(&type);
    return wrong;
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
        data[i] = i % 1000 + rank, result[i] = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    long before = mebibytes("VmRSS");
    if (argv[1][0] == 'r') {
        MPI_Allreduce(data, result, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < count; i++)
            wrong += result[i] != ranks * (i % 1000) + ranks * (ranks - 1) / 2;
    } else if (argv[1][0] == 's') {
        int *counts = calloc((size_t)ranks, sizeof *counts), from = 0;
        counts[0] = count / 4 * 3, counts[ranks - 1] += count - count / 4 * 3;
        from = rank == ranks - 1 ? counts[0] : 0;
        MPI_Reduce_scatter(MPI_IN_PLACE, data, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < counts[rank]; i++)
            wrong += data[i] != ranks * ((from + i) % 1000) + ranks * (ranks - 1) / 2;
        free(counts);
    } else
        wrong = exchange(argv[1][0], rank, ranks, data, result, count / 2);
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
