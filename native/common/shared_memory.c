#include "shared_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Where shm_open keeps its files, on Linux. */
static const char folder[] = "/dev/shm";

/* Process numbers mean something only within their namespace, and containers may share /dev/shm. */
static void prefix(char *text, size_t bytes)
{
    struct stat space;
    unsigned long number = stat("/proc/self/ns/pid", &space) == 0 ? (unsigned long)space.st_ino : 0;
    snprintf(text, bytes, "unisono-%lu-%lx-", (unsigned long)getuid(), number);
}

static void remove_stale(const char *prefix)
{
    DIR *names = opendir(folder);
    if (names == NULL)
        return;
    for (struct dirent *entry = readdir(names); entry != NULL; entry = readdir(names)) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        char *end, name[sizeof entry->d_name + 1];
        long process = strtol(entry->d_name + strlen(prefix), &end, 10);
        if (process <= 0 || *end != '-' || kill((pid_t)process, 0) == 0 || errno != ESRCH)
            continue;
        snprintf(name, sizeof name, "/%s", entry->d_name);
        shm_unlink(name);
    }
    closedir(names);
}

void shared_memory_name(char name[SHARED_NAME_BYTES])
{
    static unsigned made;
    unsigned number = __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED); /* two threads may make one at once */
    char start[SHARED_NAME_BYTES / 2];
    struct timespec now;
    prefix(start, sizeof start);
    if (number == 0)
        remove_stale(start);
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(name, SHARED_NAME_BYTES, "/%s%ld-%llx-%x", start, (long)getpid(),
             (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec, number);
}

int shared_memory_open(const char *name, bool makes)
{
    return shm_open(name, makes ? O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC : O_RDWR | O_CLOEXEC, 0600);
}

int shared_memory_fill(int file, size_t start, size_t bytes)
{
    int error = EINTR;
    while (bytes > 0 && error == EINTR)
        error = posix_fallocate(file, (off_t)start, (off_t)bytes);
    return bytes > 0 ? error : 0;
}

void *shared_memory_map(int file, size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return base == MAP_FAILED ? NULL : base;
}
