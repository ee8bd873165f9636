/* Prints how often memory was asked for during many calls of MPI, from several places, of many sizes, in phases. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t number, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);

static volatile int counting;
static volatile long asked;

void *malloc(size_t bytes)
{
    asked += counting;
    return __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes)
{
    asked += counting;
    return __libc_calloc(number, bytes);
}

void *realloc(void *old, size_t bytes)
{
    asked += counting;
    return __libc_realloc(old, bytes);
}

__attribute__((noinline)) static void calls(int size, int deeper)
{
    static char a[1 << 16];
    int flag;
    MPI_Request request = MPI_REQUEST_NULL;
    if (deeper > 0)
        calls(size, deeper - 1); /* one call path for every depth */
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MPI_Send(a, size, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_SELF);
    MPI_Bcast(a, size, MPI_CHAR, 0, MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_SELF);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Bcast(argv, 0, MPI_CHAR, 0, MPI_COMM_SELF); /* a communicator gets an attribute when it is first used */
    MPI_Pcontrol(3, "a phase");
    MPI_Pcontrol(3, "");
    counting = 1;
    for (int turn = 0; turn < 20; turn++) {
        MPI_Pcontrol(3, "a phase");
        for (int size = 1; size <= 1 << 16; size = size < 40 ? size + 1 : 2 * size)
            calls(size, 12);
        MPI_Pcontrol(3, "");
    }
    counting = 0;
    printf("%ld\n", asked);
    MPI_Finalize();
    return 0;
}
