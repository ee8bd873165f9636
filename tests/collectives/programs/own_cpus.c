/* Preloaded: every rank of Open MPI is told that it has a CPU to itself, of 64, so that it waits as on a large machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *cpus)
{
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    (void)process;
    CPU_ZERO_S(bytes, cpus);
    CPU_SET_S(local != NULL ? atoi(local) : 0, bytes, cpus);
    return 0;
}

long sysconf(int name)
{
    static long (*next)(int);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_NPROCESSORS_ONLN ? 64 : next(name);
}
