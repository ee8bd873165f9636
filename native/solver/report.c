#include "report.h"

#include <math.h>
#include <stdio.h>

static const char *const ends[] = {"converged", "iteration limit", "broken down", "no memory"};

/* Work of one iteration of this process: 36 b + 90 operations and 152 b + 656 bytes a node with b neighbours inside; what
 * is outside only takes part in the product. */
static double operations(const struct matrix *matrix)
{
    return 36.0 * (double)matrix->blocks_inside + 18.0 * (double)matrix->blocks_outside + 90.0 * matrix->rows;
}

static double bytes(const struct matrix *matrix)
{
    return 152.0 * (double)matrix->blocks_inside + 76.0 * (double)matrix->blocks_outside + 656.0 * matrix->rows;
}

static double total(const struct system *system, double value, MPI_Op op)
{
    double all = 0;
    MPI_Reduce(&value, &all, 1, MPI_DOUBLE, op, 0, system->comm);
    return all;
}

enum { PARTS = 9 };
static const char *const names[PARTS] = {"product",   "forward",       "backward",  "dots",     "vectors",
                                         "halo_pack", "halo_exchange", "allreduce", "computing"};

void report_print(const struct options *options, const struct system *system, const struct result *result)
{
    const struct times *times = &result->outcome.times;
    const struct matrix *matrix = system->matrix;
    double mean[PARTS], most[PARTS];
    const double own[PARTS] = {times->product, times->forward, times->backward, times->dots, times->vectors,
                               system->halo->pack_seconds, system->halo->exchange_seconds, times->allreduce,
                               times->product + times->forward + times->backward + times->dots + times->vectors};
    int rank, ranks;
    MPI_Comm_rank(system->comm, &rank);
    MPI_Comm_size(system->comm, &ranks);
    for (int k = 0; k < PARTS; k++) {
        mean[k] = total(system, own[k], MPI_SUM) / ranks;
        most[k] = total(system, own[k], MPI_MAX);
    }
    const int iterations = result->outcome.iterations;
    double seconds = total(system, times->total, MPI_MAX), setup = total(system, result->setup_seconds, MPI_MAX);
    double work = total(system, operations(matrix), MPI_SUM) * iterations;
    double traffic = total(system, bytes(matrix), MPI_SUM) * iterations;
    int colours = (int)total(system, system->order->colours, MPI_MAX);
    double nodes = total(system, matrix->rows, MPI_SUM), triad = fmin(result->bandwidth[0], result->bandwidth[1]);
    if (rank != 0)
        return;
    double flops = seconds > 0 ? work / seconds : 0, rate = seconds > 0 ? traffic / seconds : 0;
    double fraction = triad > 0 ? rate / triad : 0, imbalance = mean[8] > 0 ? most[8] / mean[8] : 1;
    if (options->json) {
        printf("{\"solver\": \"unisono\", \"nodes\": [%lld, %lld, %lld], \"unknowns\": %.0f, \"parts\": [%d, %d, %d], ",
               (long long)options->nodes[0], (long long)options->nodes[1], (long long)options->nodes[2], 3 * nodes,
               options->parts[0], options->parts[1], options->parts[2]);
        printf("\"ranks\": %d, \"threads\": %d, \"ordering\": \"%s\", \"colours\": %d, \"packing\": \"%s\", ", ranks,
               result->threads, ordering_names[options->ordering], colours,
               options->threaded_packing ? "threads" : "single");
        printf("\"contiguous\": %s, \"first_touch\": %s, \"kernels\": \"%s\", ", options->contiguous ? "true" : "false",
               options->first_touch ? "true" : "false", system->kernels->name);
        printf("\"end\": \"%s\", \"iterations\": %d, \"residual\": %.6e, \"error\": %.3e, \"seconds\": %.6f, ",
               ends[result->outcome.end], iterations, result->outcome.residual, result->error, seconds);
        printf("\"setup_seconds\": %.6f, \"gflops\": %.4f, \"gbytes_per_second\": %.4f, ", setup, flops / 1e9, rate / 1e9);
        printf("\"triad_before\": %.4f, \"triad_after\": %.4f, \"fraction\": %.4f, \"imbalance\": %.4f, \"parts_seconds\": {",
               result->bandwidth[0] / 1e9, result->bandwidth[1] / 1e9, fraction, imbalance);
        for (int k = 0; k < PARTS - 1; k++)
            printf("%s\"%s\": [%.6f, %.6f]", k ? ", " : "", names[k], mean[k], most[k]);
        printf("}, \"history\": [");
        for (int i = 0; i < iterations; i++)
            printf("%s%.4e", i ? ", " : "", result->history[i]);
        printf("]}\n");
        return;
    }
    printf("%lld x %lld x %lld nodes, %.0f unknowns; %d processes (%d x %d x %d) x %d threads; %s, %d colours; %s kernels\n",
           (long long)options->nodes[0], (long long)options->nodes[1], (long long)options->nodes[2], 3 * nodes, ranks,
           options->parts[0], options->parts[1], options->parts[2], result->threads, ordering_names[options->ordering], colours,
           system->kernels->name);
    printf("%s after %d iterations, residual %.2e; exact solution met to %.1e\n", ends[result->outcome.end], iterations,
           result->outcome.residual, result->error);
    printf("time to solution %.4f s (set-up %.3f s), %.3f GFLOPS, %.2f GB/s by the byte model = %.0f %% of the triad's %.2f GB/s\n",
           seconds, setup, flops / 1e9, rate / 1e9, 100 * fraction, triad / 1e9);
    printf("triad before %.2f, after %.2f GB/s; imbalance of computing %.3f\n", result->bandwidth[0] / 1e9,
           result->bandwidth[1] / 1e9, imbalance);
    printf("\n%-14s %12s %12s %8s\n", "part", "mean s", "slowest s", "share");
    for (int k = 0; k < PARTS - 1; k++)
        printf("%-14s %12.6f %12.6f %7.1f%%\n", names[k], mean[k], most[k], seconds > 0 ? 100 * mean[k] / seconds : 0);
}
