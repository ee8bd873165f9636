#include "shared_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* A process of its own, as only the first name of one looks for what others left. */
static int in_child(int (*run)(char *name), char *name)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0)
        _exit(run(name));
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int leave_behind(char *name)
{
    shared_memory_name(name);
    return shared_memory_open(name, true) < 0;
}

static int make_another(char *name)
{
    char own[SHARED_NAME_BYTES];
    shared_memory_name(own);
    return strcmp(own, name) == 0;
}

int main(void)
{
    char *name = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char own[SHARED_NAME_BYTES];
    struct stat file;
    CHECK(in_child(leave_behind, name) == 0);
    CHECK(shared_memory_open(name, false) >= 0);
    CHECK(in_child(make_another, name) == 0);
    CHECK(shared_memory_open(name, false) < 0 && errno == ENOENT); /* its process is dead */

    shared_memory_name(own);
    int made = shared_memory_open(own, true);
    CHECK(made >= 0 && fstat(made, &file) == 0 && (file.st_mode & 0777) == 0600);
    CHECK(shared_memory_open(own, true) < 0 && errno == EEXIST);
    CHECK(shared_memory_fill(made, 0, 8192) == 0 && shared_memory_fill(made, 0, 0) == 0);
    CHECK(fstat(made, &file) == 0 && file.st_size == 8192 && file.st_blocks * 512 >= 8192);
    char *memory = shared_memory_map(made, 8192);
    CHECK(memory != NULL && memory[8191] == 0);
    shm_unlink(own);
    return verdict();
}
