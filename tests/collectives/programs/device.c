/* Rank 1 has its data on a device, the others in the host's memory: `device start COLLECTIVE ...`, from the beginning; `device
 * PATH COLLECTIVE ...`, from the fourth round on, when the driver at PATH is loaded. Prints `right`, or what was wrong. Blocks
 * have NUMBERS integers, 400 where that is not in the environment. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "any.h"

/* From the third call on a communicator of the program is served. */
enum { BEFORE = 2, ROUNDS = 40, HOST_ROUNDS = 3, USUAL = 400, HELD = 2 };

void device_open(int open);
void *device_allocate(size_t bytes);

/* What a call sends, and what it gets: the same for every call. */
static void *get(size_t bytes)
{
    static void *held[HELD];
    static size_t room[HELD];
    static int next;
    int at = next++ % HELD;
    if (room[at] < bytes)
        held[at] = device_allocate(bytes), room[at] = bytes;
    return held[at];
}

static void keep(void *memory)
{
    (void)memory;
}

static void use_device(void)
{
    any_get = get, any_put = keep, any_touch = device_open;
}

int main(int argc, char **argv)
{
    enum { MOST = 32 };
    const char *numbers = getenv("NUMBERS");
    int count = numbers != NULL ? atoi(numbers) : USUAL;
    int rank, wrong = 0, late = strcmp(argv[1], "start") != 0;
    MPI_Comm comm[MOST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 2; i < argc; i++) {
        comm[i] = any_comm(argv[i], MPI_COMM_WORLD);
        for (int round = 0; round < BEFORE; round++)
            wrong |= any_run(argv[i], &(struct any){.comm = comm[i], .count = 1, .round = round}) != MPI_SUCCESS;
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (round == (late ? HOST_ROUNDS : 0) && rank == 1) {
            if (late && dlopen(argv[1], RTLD_NOW) == NULL)
                return 3;
            use_device();
        }
        for (int i = 2; i < argc; i++) {
            int error = any_run(argv[i], &(struct any){.comm = comm[i], .count = count, .round = round});
            if (error != MPI_SUCCESS)
                printf("rank %d: round %d of %s: %d\n", rank, round, argv[i], error), wrong = 1;
        }
    }
    for (int i = 2; i < argc; i++)
        MPI_Comm_free(&comm[i]);
    PMPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        puts(wrong ? "wrong" : "right");
    MPI_Finalize();
    return 0;
}
