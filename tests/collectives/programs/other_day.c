/* Preloaded: a machine on which every rank has a CPU, on one day or another. OTHER_DAY_RUNNING: so many processes would run now, as
 * /proc/stat says. OTHER_DAY_QUICK: the first long reads of another process's memory, as they are measured, take no time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { LONG = 512 << 10, MEASURED = 6, CPUS = 64 };

static FILE *(*usual_open)(const char *, const char *);
static ssize_t (*usual_read)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
                             unsigned long);
static int measured;

__attribute__((constructor)) static void find(void)
{
    *(void **)&usual_open = dlsym(RTLD_NEXT, "fopen");
    *(void **)&usual_read = dlsym(RTLD_NEXT, "process_vm_readv");
}

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set)
{
    (void)process;
    CPU_ZERO_S(bytes, set);
    for (int cpu = 0; cpu < CPUS; cpu++)
        CPU_SET_S((size_t)cpu, bytes, set);
    return 0;
}

FILE *fopen(const char *path, const char *mode)
{
    const char *running = getenv("OTHER_DAY_RUNNING");
    if (running == NULL || strcmp(path, "/proc/stat") != 0)
        return usual_open(path, mode);
    FILE *file = tmpfile();
    if (file != NULL && fprintf(file, "procs_running %s\n", running) > 0)
        rewind(file);
    return file;
}

ssize_t process_vm_readv(pid_t process, const struct iovec *own, unsigned long own_count, const struct iovec *other,
                         unsigned long other_count, unsigned long flags)
{
    if (getenv("OTHER_DAY_QUICK") != NULL && own->iov_len == LONG && measured++ < MEASURED)
        return LONG;
    return usual_read(process, own, own_count, other, other_count, flags);
}
