/* Makes and frees a hundred thousand communicators, using each, and keeps more of them at a time than the recorder has
 * room for. Prints by how many KiB the process has grown over the last nine tenths. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { TIMES = 100000, KEPT = 10000 };

static long resident(void)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "VmRSS: %ld", &kib);
    if (file != NULL)
        fclose(file);
    return kib;
}

int main(int argc, char **argv)
{
    static MPI_Comm kept[KEPT];
    long before = 0;
    int most = argc > 1 ? atoi(argv[1]) : KEPT; /* some MPIs have room for few */
    MPI_Init(&argc, &argv);
    for (int i = 0; i < TIMES; i++) {
        MPI_Comm copy;
        MPI_Comm_dup(MPI_COMM_SELF, &copy);
        MPI_Barrier(copy);
        MPI_Comm_free(&copy);
        if (i == TIMES / 10)
            before = resident();
    }
    printf("%ld\n", resident() - before);
    for (int i = 0; i < most; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &kept[i]);
    for (int i = 0; i < most; i++)
        MPI_Barrier(kept[i]);
    for (int i = 0; i < most; i++)
        MPI_Comm_free(&kept[i]);
    MPI_Finalize();
    return 0;
}
