/* One thread takes memory from the heap, which grows, while another is in collectives with buffers that are elsewhere.
 * sbrk is this program's, and does as UCX 1.13's, which takes the place of the C library's: it sets the break to what it
 * has read before, by sbrk(0) too. The C library itself does not call this one. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mpi.h>

enum { CALLS = 20, COUNT = 100, BYTES = 4096, BLOCKS = 10000 };
enum { TICK = 11000, MEANWHILE = 3000, PAUSE = 50 }; /* us */

static int done;

void *sbrk(intptr_t increment)
{
    char *before = (char *)syscall(SYS_brk, 0);
    usleep(MEANWHILE);
    return brk(before + increment) == 0 ? before : (void *)-1;
}

static void *grow(void *wrong)
{
    static char *blocks[BLOCKS];
    int count = 0;
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED) && count < BLOCKS) {
        if ((blocks[count] = malloc(BYTES)) == NULL)
            break;
        memset(blocks[count], count % 100, BYTES);
        count++;
        usleep(PAUSE);
    }
    for (int i = 0; i < count; i++)
        *(int *)wrong |= blocks[i][0] != i % 100 || blocks[i][BYTES - 1] != i % 100;
    *(int *)wrong |= count < CALLS;
    return NULL;
}

int main(int argc, char **argv)
{
    int level, rank, ranks, wrong = 0, lost = 0, any;
    pthread_t thread;
    mallopt(M_ARENA_MAX, 1); /* the heap is for all threads */
    mallopt(M_TOP_PAD, 0);   /* and grows by what is asked for */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int *data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *sums = data + COUNT;
    if (data == MAP_FAILED || pthread_create(&thread, NULL, grow, &lost) != 0)
        return 2;
    for (int call = 0; call < CALLS; call++) {
        usleep(TICK); /* the heap's end is looked for once in a tick of the kernel's clock */
        for (int i = 0; i < COUNT; i++)
            data[i] = rank + i + call;
        MPI_Allreduce(data, sums, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong |= sums[COUNT - 1] != ranks * (ranks - 1) / 2 + ranks * (COUNT - 1 + call);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    wrong |= lost;
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        puts(any ? "wrong" : "right");
    MPI_Finalize();
    return 0;
}
