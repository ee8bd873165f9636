/* What the recorder adds to one call of MPI, and what unwinding the stack at every call would add.
 *
 * Blocks of calls of a function that does nothing (MPI_Bcast among one rank), made from a given depth, take turns:
 * PMPI_Bcast, which nobody records; MPI_Bcast, which the preloaded recorder records; PMPI_Bcast and a walk up the stack
 * as profilers without memory do it (mpiP, IPM: unw_step from frame to frame; without libunwind glibc's backtrace).
 * Usage: record_overhead ROUNDS DEPTH FRAMES; prints a line of three numbers (ns per call) for every round. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef WITH_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#else
#include <execinfo.h>
#endif

enum { CALLS = 2000, WALKS = 100 };

static volatile unsigned long seen;

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

__attribute__((noinline)) static void walk(int frames)
{
#ifdef WITH_LIBUNWIND
    unw_context_t context;
    unw_cursor_t cursor;
    unw_getcontext(&context);
    unw_init_local(&cursor, &context);
    for (int i = 0; i < frames && unw_step(&cursor) > 0; i++) {
        unw_word_t address;
        unw_get_reg(&cursor, UNW_REG_IP, &address);
        seen += address;
    }
#else
    void *addresses[32];
    seen += (unsigned long)backtrace(addresses, frames + 1);
#endif
}

__attribute__((noinline)) static void rounds(int count, int frames)
{
    int value = 0;
    for (int round = 0; round < count; round++) {
        double start = now_ns();
        for (int i = 0; i < CALLS; i++)
            PMPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF);
        double alone = now_ns();
        for (int i = 0; i < CALLS; i++)
            MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF);
        double recorded = now_ns();
        for (int i = 0; i < WALKS; i++) {
            PMPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_SELF);
            if (frames > 0)
                walk(frames);
        }
        double walked = now_ns();
        printf("%.2f %.2f %.2f\n", (alone - start) / CALLS, (recorded - alone) / CALLS, (walked - recorded) / WALKS);
    }
}

__attribute__((noinline)) static void descend(int depth, int count, int frames)
{
    if (depth > 0)
        descend(depth - 1, count, frames);
    else
        rounds(count, frames);
    seen++;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    MPI_Init(&argc, &argv);
    descend(atoi(argv[2]), atoi(argv[1]), atoi(argv[3]));
    MPI_Finalize();
    return 0;
}
