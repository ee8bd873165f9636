/* What a program started by a rank has loaded: `children PATH...` says of each file whether it is in the rank, and in a
 * program that the rank starts. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int child_has(const char *path)
{
    char command[4096];
    snprintf(command, sizeof command, "grep -qF '%s' /proc/self/maps", path);
    return system(command) == 0;
}

static int rank_has(const char *path)
{
    char command[4096];
    snprintf(command, sizeof command, "grep -qF '%s' /proc/$PPID/maps", path);
    return system(command) == 0;
}

int main(int count, char **arguments)
{
    MPI_Init(&count, &arguments);
    for (int i = 1; i < count; i++)
        printf("%d%d ", rank_has(arguments[i]), child_has(arguments[i]));
    const char *left = getenv("LD_PRELOAD");
    printf("%s\n", left != NULL ? left : "");
    MPI_Finalize();
    return 0;
}
