/* Broadcasts and sums of memory of many kinds, which is changed between calls in every way that a program may: whoever keeps what it knew of a
 * buffer, or of its pages, has the wrong bytes. "right" by every rank that got what was sent. Without huge pages that kind is left out. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4 << 20, PART = 1 << 20 };
static const char never_written[PART + 1] = {1};
static int rank, ranks, wrong;

static void *map(void *at, int protection, int flags, int file)
{
    void *memory = mmap(at, BYTES, protection, flags | (at != NULL ? MAP_FIXED : 0), file, 0);
    if (memory == MAP_FAILED && !(flags & MAP_HUGETLB)) {
        perror("mmap");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory == MAP_FAILED ? NULL : memory;
}

static int file_of(char filling)
{
    char name[] = "/tmp/unisono-kinds-XXXXXX", *content = malloc(BYTES);
    const int file = mkstemp(name);
    memset(content, filling, BYTES);
    unlink(name);
    if (file < 0 || write(file, content, BYTES) != BYTES)
        MPI_Abort(MPI_COMM_WORLD, 1);
    free(content);
    return file;
}

static void expect(const char *memory, size_t bytes, char value, const char *kind)
{
    for (size_t i = 0; i < bytes; i++)
        if (memory[i] != value) {
            fprintf(stderr, "rank %d, %s: byte %zu is %d and not %d\n", rank, kind, i, memory[i], value);
            wrong = 1;
            return;
        }
}

/* What the root has, which only it may be able to read, comes to all. */
static void send_from(const char *memory, int root, char value, const char *kind)
{
    static char room[PART];
    memset(room, 99, PART);
    MPI_Bcast(rank == root ? (void *)memory : room, PART, MPI_BYTE, root, MPI_COMM_WORLD);
    expect(rank == root ? memory : room, PART, value, kind);
}

/* Read by others, and written by them or by this rank. */
static void use(char *memory, char value, const char *kind)
{
    for (int root = 0; root < ranks; root++) {
        memset(memory, rank == root ? value : 0, PART);
        MPI_Bcast(memory, PART, MPI_BYTE, root, MPI_COMM_WORLD);
        expect(memory, PART, value, kind);
    }
    memset(memory, 1, PART);
    MPI_Allreduce(memory, memory + PART, PART, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
    expect(memory + PART, PART, (char)ranks, kind);
}

static void fork_between(char *memory)
{
    int hold[2];
    if (pipe(hold) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    const pid_t child = fork(); /* which has the pages too, until it ends */
    if (child == 0) {
        char byte;
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) == 0 ? memory[0] : 1);
    }
    const char before = memory[0];
    use(memory, 12, "a process that has forked");
    close(hold[0]);
    close(hold[1]);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != before) {
        fprintf(stderr, "rank %d: a child saw what was written later\n", rank);
        wrong = 1;
    }
    use(memory, 13, "a process whose child is gone");
}

static void unwritable(void)
{
    const int file = file_of(21);
    char *memory = map(NULL, PROT_READ, MAP_PRIVATE, file);
    send_from(memory, 0, 21, "a file that is only read");
    mprotect(memory, BYTES, PROT_READ | PROT_WRITE);
    use(memory, 22, "a private file, written later");
    mprotect(memory, BYTES, PROT_READ);
    send_from(memory + 2 * PART, ranks - 1, 21, "a private file, no longer written");
    munmap(memory, BYTES);
    memory = map(NULL, PROT_READ | PROT_WRITE, MAP_SHARED, file);
    use(memory, 23, "a shared file");
    send_from(never_written + 1, 0, 0, "a constant");
    munmap(memory, BYTES);
    close(file);
}

/* It cannot grow where it is. */
static char *map_before_another(void)
{
    char *memory = mmap(NULL, 2 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return map(memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void anonymous(void)
{
    char *memory = map_before_another();
    use(memory, 1, "memory");
    madvise(memory, BYTES, MADV_DONTNEED);
    send_from(memory, 0, 0, "memory that was given back");
    use(memory, 2, "memory that was given back");
    mprotect(memory, BYTES, PROT_NONE);
    mprotect(memory, BYTES, PROT_READ | PROT_WRITE);
    use(memory, 3, "memory that was forbidden for a while");
    map(memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    send_from(memory, 0, 0, "memory mapped anew");
    use(memory, 4, "memory mapped anew");
    char *other = mremap(memory, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
    if (other == MAP_FAILED || other == memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    map(memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    send_from(other, 0, 1, "memory that has moved"); /* the last sum left it */
    use(other, 5, "memory that has moved");
    send_from(memory, 0, 0, "what is in its place");
    use(memory, 6, "what is in its place");
    fork_between(memory);
    munmap(other, 2 * BYTES);
    map(memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
    use(memory, 7, "shared memory");
    munmap(memory, 2 * BYTES);
}

static void huge(void)
{
    char *memory = map(NULL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
    int mine = memory != NULL, all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    for (int round = 0; all && round < 2; round++) {
        use(memory, 8, "huge pages");
        munmap(memory, BYTES);
        memory = map(memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1);
        if (memory == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (memory != NULL)
        munmap(memory, BYTES);
    if (all && rank == 0)
        puts("huge pages");
}

int main(int count, char **arguments)
{
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char on_stack[2 * PART];
    for (int round = 0; round < 2; round++) {
        anonymous();
        unwritable();
        huge();
        use(on_stack, 9, "the stack");
    }
    puts(wrong ? "wrong" : "right");
    MPI_Finalize();
    return 0;
}
