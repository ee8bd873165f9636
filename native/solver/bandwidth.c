#include "bandwidth.h"

#include <stdlib.h>

#include "pages.h"
#include "patience.h"

enum { SUMS = 16, LINE = 8 };          /* doubles that are added side by side, and of a cache line */
enum { STREAMS = 4, AHEAD = 3072 };    /* places where a thread reads at once; bytes */
enum { REPETITIONS = 3 * (int)HINTS }; /* each hint has as many of them */

static double triad(struct bandwidth *bandwidth)
{
    double *restrict a = bandwidth->memory[0];
    const double *restrict b = bandwidth->memory[1], *restrict c = bandwidth->memory[2];
    const double begun = MPI_Wtime();
#pragma omp parallel for schedule(static) num_threads(bandwidth->threads)
    for (int64_t i = 0; i < bandwidth->count; i++)
        a[i] = b[i] + 3.0 * c[i];
    return MPI_Wtime() - begun;
}

/* Sums side by side, so that none waits for an addition; up to STREAMS x SUMS numbers at the end are left out. */
__attribute__((always_inline)) static inline double sum_of(const double *memory, int64_t count, enum hint hint)
{
    double sums[SUMS] = {0}, total = 0;
    const int64_t apart = count / (STREAMS * SUMS) * SUMS;
    for (int64_t i = 0; i < apart; i += SUMS)
        for (int stream = 0; stream < STREAMS; stream++) {
            const double *at = memory + stream * apart + i;
            for (int k = 0; k < SUMS; k += LINE)
                fetch_ahead(at + k, AHEAD, hint);
            for (int k = 0; k < SUMS; k++)
                sums[k] += at[k];
        }
    for (int k = 0; k < SUMS; k++)
        total += sums[k];
    return total;
}

static double sum_with(const double *memory, int64_t count, enum hint hint)
{
    switch (hint) {
    case HINT_NTA: return sum_of(memory, count, HINT_NTA);
    case HINT_T0: return sum_of(memory, count, HINT_T0);
    case HINT_T1: return sum_of(memory, count, HINT_T1);
    case HINT_NONE:
    case HINTS: break;
    }
    return sum_of(memory, count, HINT_NONE);
}

static double read_all(struct bandwidth *bandwidth, enum hint hint)
{
    const double *memory = bandwidth->memory[1];
    double total = 0;
    const double begun = MPI_Wtime();
#pragma omp parallel for schedule(static) num_threads(bandwidth->threads) reduction(+ : total)
    for (int64_t part = 0; part < bandwidth->threads; part++) {
        const int64_t from = bandwidth->count * part / bandwidth->threads;
        const int64_t to = bandwidth->count * (part + 1) / bandwidth->threads;
        total += sum_with(memory + from, to - from, hint);
    }
    const double seconds = MPI_Wtime() - begun;
    bandwidth->memory[0][0] = total; /* so that it is needed */
    return seconds;
}

bool bandwidth_create(struct bandwidth *bandwidth, MPI_Comm comm, int threads, double bytes)
{
    *bandwidth = (struct bandwidth){.comm = comm, .threads = threads, .count = (int64_t)(bytes / sizeof(double))};
    int good = bandwidth->count > SUMS, all;
    for (int k = 0; k < 3; k++) {
        bandwidth->memory[k] = pages_take((size_t)bandwidth->count * sizeof(double));
        good = good && bandwidth->memory[k] != NULL;
    }
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm);
    if (!all) {
        bandwidth_free(bandwidth);
        return false;
    }
    double *const *memory = bandwidth->memory;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t i = 0; i < bandwidth->count; i++)
        memory[0][i] = 0, memory[1][i] = 1, memory[2][i] = 2;
    return true;
}

void bandwidth_free(struct bandwidth *bandwidth)
{
    for (int k = 0; k < 3; k++)
        free(bandwidth->memory[k]);
    *bandwidth = (struct bandwidth){0};
}

/* As of threads, the slowest decides (like STREAM with MPI). */
static double together(struct bandwidth *bandwidth, double bytes, double seconds)
{
    double all, slowest, own = bytes * (double)bandwidth->count;
    patience_allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, bandwidth->comm);
    patience_allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, bandwidth->comm);
    return all / slowest;
}

static struct rates pass(struct bandwidth *bandwidth, enum hint hint)
{
    struct rates rates;
    patience_barrier(bandwidth->comm);
    rates.triad = together(bandwidth, 24, triad(bandwidth));
    rates.read = together(bandwidth, 8, read_all(bandwidth, hint));
    return rates;
}

struct rates bandwidth_pass(struct bandwidth *bandwidth)
{
    return pass(bandwidth, bandwidth->hint);
}

struct rates bandwidth_best(struct bandwidth *bandwidth)
{
    struct rates best = {0, 0};
    for (int repetition = 0; bandwidth->count > 0 && repetition < REPETITIONS; repetition++) {
        const enum hint hint = (enum hint)(repetition % HINTS);
        const struct rates now = pass(bandwidth, hint);
        best.triad = now.triad > best.triad ? now.triad : best.triad;
        if (now.read > best.read)
            best.read = now.read, bandwidth->hint = hint;
    }
    return best;
}
