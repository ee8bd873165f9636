#include "shared_memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { PART = 8192 };

/* A process of its own, as only the first name of one looks for what others left. */
static int in_child(int (*run)(struct shared_place *place), struct shared_place *place)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(run(place));
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int leave_behind(struct shared_place *place)
{
    return shared_memory_make(place, true) < 0;
}

static int make_another(struct shared_place *place)
{
    struct shared_place own;
    return shared_memory_make(&own, true) < 0 || strcmp(own.path, place->path) == 0 || unlink(own.path) != 0;
}

static int write_there(struct shared_place *place)
{
    int file = shared_memory_join(place);
    char *memory = file >= 0 ? shared_memory_map(file, PART) : NULL;
    if (memory == NULL)
        return 1;
    memory[PART - 1] = 42;
    place->inode++; /* as if the process number were another process' here */
    return shared_memory_join(place) >= 0 || errno != ENOENT;
}

/* That this process made. */
static int names(void)
{
    char own[32];
    int found = 0;
    snprintf(own, sizeof own, "-%ld-", (long)getpid());
    DIR *folder = opendir("/dev/shm");
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        found += strstr(entry->d_name, own) != NULL;
    closedir(folder);
    return found;
}

static void test_what_the_dead_left(struct shared_place *place)
{
    CHECK(in_child(leave_behind, place) == 0);
    int left = shared_memory_join(place);
    CHECK(left >= 0 && close(left) == 0);
    CHECK(in_child(make_another, place) == 0);
    CHECK(shared_memory_join(place) < 0 && errno == ENOENT); /* its process is dead */
}

static void test_file(struct shared_place *place, bool named)
{
    struct stat file;
    int before = names(), made = shared_memory_make(place, named);
    CHECK(made >= 0 && fstat(made, &file) == 0 && (file.st_mode & 0777) == 0600);
    CHECK(names() == before + named);
    CHECK(shared_memory_fill(made, 0, PART) == 0 && shared_memory_fill(made, 0, 0) == 0);
    CHECK(fstat(made, &file) == 0 && file.st_size == PART && file.st_blocks * 512 >= PART);
    char *memory = shared_memory_map(made, PART);
    CHECK(memory != NULL && memory[PART - 1] == 0);
    CHECK(in_child(write_there, place) == 0 && memory[PART - 1] == 42);
    shared_memory_unname(place);
    CHECK(names() == before);
    CHECK(close(made) == 0 && shared_memory_join(place) < 0);
    munmap(memory, PART);
}

static void limit_to(int which, rlim_t most)
{
    const struct rlimit limit = {most, most};
    if (setrlimit(which, &limit) != 0)
        _exit(2);
}

/* The kernel would send SIGXFSZ. */
static int make_longer_than_files_may_be(struct shared_place *place)
{
    const int file = shared_memory_make(place, false);
    limit_to(RLIMIT_FSIZE, PART);
    return file < 0 || shared_memory_fill(file, 0, PART) != 0 || shared_memory_fill(file, 1, PART) != EFBIG;
}

/* There would be address space for it, but for little else. */
static int map_into_the_last_address_space(struct shared_place *place)
{
    const size_t more = (size_t)32 << 20;
    const int file = shared_memory_make(place, false);
    unsigned long pages = 0;
    FILE *own = fopen("/proc/self/statm", "r");
    if (file < 0 || shared_memory_fill(file, 0, PART) != 0 || own == NULL || fscanf(own, "%lu", &pages) != 1)
        return 2;
    fclose(own);
    limit_to(RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE) + more);
    errno = 0;
    return shared_memory_map(file, PART) != NULL || errno != ENOMEM;
}

int main(void)
{
    struct shared_place *place = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    test_what_the_dead_left(place);
    test_file(place, false);
    test_file(place, true);
    CHECK(in_child(make_longer_than_files_may_be, place) == 0);
    CHECK(in_child(map_into_the_last_address_space, place) == 0);
    munmap(place, sizeof *place);
    return verdict();
}
