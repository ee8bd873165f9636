/* A sum over all ranks, what was given to the program and what is still preloaded. With -DPLUGIN the whole of it is loaded by a
 * program that has no MPI, as an extension of Python is. */
#include <stdio.h>
#include <stdlib.h>

#ifdef LOADER
#include <dlfcn.h>

int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[1], RTLD_NOW);
    int (*run)(int, char **) = NULL;
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    *(void **)&run = dlsym(plugin, "run");
    return run(argc, argv);
}
#else
#include <mpi.h>

int run(int argc, char **argv)
{
    int rank, one = 1, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++)
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, given %s, preloaded %s\n", all, argv[argc - 1], getenv("LD_PRELOAD"));
    MPI_Finalize();
    return 0;
}
#ifndef PLUGIN
int main(int argc, char **argv)
{
    return run(argc, argv);
}
#endif
#endif
