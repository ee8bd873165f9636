#include "shared_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char folder[] = "/dev/shm";

/* Address space that stays free where it is limited (ulimit -v): for calls, which take up to 16 MiB and twice as much to pack, and
 * for the program, which would meet the limit where it does not without us. */
static const rlim_t left_free = (rlim_t)64 << 20;

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
        char *end, path[sizeof folder + sizeof entry->d_name];
        long process = strtol(entry->d_name + strlen(prefix), &end, 10);
        if (process <= 0 || *end != '-' || kill((pid_t)process, 0) == 0 || errno != ESRCH)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(names);
}

/* Not used by anybody yet. */
static void invent(char *path, size_t bytes)
{
    static unsigned made;
    unsigned number = __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED); /* two threads may make one at once */
    char start[SHARED_PATH_BYTES / 2];
    struct timespec now;
    prefix(start, sizeof start);
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(path, bytes, "%s/%s%ld-%llx-%x", folder, start, (long)getpid(),
             (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec, number);
}

static void clean_once(void)
{
    static int done;
    char start[SHARED_PATH_BYTES / 2];
    if (__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED))
        return;
    prefix(start, sizeof start);
    remove_stale(start);
}

int shared_memory_make(struct shared_place *place, bool named)
{
    struct stat made;
    int file;
    *place = (struct shared_place){0};
    clean_once();
    if (named)
        invent(place->path, sizeof place->path);
    file = named ? open(place->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                 : open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (file >= 0 && fstat(file, &made) == 0) {
        place->device = made.st_dev;
        place->inode = made.st_ino;
        if (!named)
            snprintf(place->path, sizeof place->path, "/proc/%ld/fd/%d", (long)getpid(), file);
        return file;
    }
    place->path[0] = '\0';
    return -1;
}

int shared_memory_join(const struct shared_place *place)
{
    struct stat found;
    /* Looked at before it is opened: in another container it may be anything, a terminal or a pipe. */
    if (stat(place->path, &found) != 0)
        return -1;
    if (found.st_dev != place->device || found.st_ino != place->inode) {
        errno = ENOENT;
        return -1;
    }
    return open(place->path, O_RDWR | O_CLOEXEC);
}

void shared_memory_unname(const struct shared_place *place)
{
    if (strncmp(place->path, folder, sizeof folder - 1) == 0)
        unlink(place->path);
}

static rlim_t limit_of(int which)
{
    struct rlimit limit;
    return getrlimit(which, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

int shared_memory_fill(int file, size_t start, size_t bytes)
{
    int error = EINTR;
    if (start + bytes > limit_of(RLIMIT_FSIZE)) /* the kernel would not only refuse, but send SIGXFSZ */
        return EFBIG;
    while (bytes > 0 && error == EINTR)
        error = posix_fallocate(file, (off_t)start, (off_t)bytes);
    return bytes > 0 ? error : 0;
}

/* Bytes of address space that this process has; 0: not known. Without memory of its own, which may be short. */
static rlim_t address_space(void)
{
    char text[32] = "";
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file >= 0 && read(file, text, sizeof text - 1) < 0)
        text[0] = '\0';
    if (file >= 0)
        close(file);
    return strtoul(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
}

void *shared_memory_map(int file, size_t bytes)
{
    const rlim_t limit = limit_of(RLIMIT_AS);
    if (limit != RLIM_INFINITY && address_space() + bytes + left_free > limit) {
        errno = ENOMEM;
        return NULL;
    }
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return base == MAP_FAILED ? NULL : base;
}
