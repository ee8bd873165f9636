#include "report.h"

#include <math.h>
#include <stdio.h>

static const char *const ends[] = {"converged", "iteration limit", "broken down", "no memory"};

/* Work of one iteration of this process: 36 b + 90 operations and 152 b + 656 bytes a node with b neighbours inside;
 * what is outside only takes part in the product. */
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

enum { PARTS = 9, COMPUTING = 8 };
static const char *const names[PARTS] = {"product",   "forward",       "backward",  "dots",     "vectors",
                                         "halo_pack", "halo_exchange", "allreduce", "computing"};

/* Of all processes together; whole on rank 0. */
struct summary {
    int rank, ranks, colours;
    double unknowns, seconds, setup, flops, rate; /* operations and bytes a second */
    double best;                                  /* bytes a second of the quickest iteration */
    double triad, fraction, imbalance;
    double traffic;                  /* of an iteration */
    double mean[PARTS], most[PARTS]; /* seconds */
};

static struct summary gather(const struct system *system, const struct result *result)
{
    const struct times *times = &result->outcome.times;
    const struct matrix *matrix = system->matrix;
    const double own[PARTS] = {times->product,
                               times->forward,
                               times->backward,
                               times->dots,
                               times->vectors,
                               system->halo->pack_seconds,
                               system->halo->exchange_seconds,
                               times->allreduce,
                               times->product + times->forward + times->backward + times->dots + times->vectors};
    const double iterations = result->outcome.iterations;
    struct summary all;
    MPI_Comm_rank(system->comm, &all.rank);
    MPI_Comm_size(system->comm, &all.ranks);
    for (int k = 0; k < PARTS; k++) {
        all.mean[k] = total(system, own[k], MPI_SUM) / all.ranks;
        all.most[k] = total(system, own[k], MPI_MAX);
    }
    all.seconds = total(system, times->total, MPI_MAX);
    all.setup = total(system, result->setup_seconds, MPI_MAX);
    const double work = total(system, operations(matrix), MPI_SUM) * iterations;
    const double traffic = total(system, bytes(matrix), MPI_SUM);
    const double quickest = total(system, result->outcome.quickest, MPI_MAX);
    all.colours = (int)total(system, system->order->colours, MPI_MAX);
    all.unknowns = 3 * total(system, matrix->rows, MPI_SUM);
    all.flops = all.seconds > 0 ? work / all.seconds : 0;
    all.rate = all.seconds > 0 ? traffic * iterations / all.seconds : 0;
    all.best = quickest > 0 ? traffic / quickest : 0;
    all.triad = (result->bandwidth[0].triad + result->bandwidth[1].triad) / 2;
    all.traffic = traffic;
    all.fraction = all.triad > 0 ? all.rate / all.triad : 0;
    all.imbalance = all.mean[COMPUTING] > 0 ? all.most[COMPUTING] / all.mean[COMPUTING] : 1;
    return all;
}

static double rate_of(const struct block *block, const struct summary *all)
{
    return block->seconds > 0 ? block->iterations * all->traffic / block->seconds : 0;
}

/* JSON has no word for what is not finite. */
static void number(const char *before, const char *format, double value)
{
    fputs(before, stdout);
    printf(isfinite(value) ? format : "null", value);
}

/* The model's GB/s of each block of iterations, of the triad and of reading right before and after it. */
static void print_blocks(const struct outcome *outcome, const struct summary *all)
{
    fputs(", \"beside\": [", stdout);
    for (int k = 0; k < outcome->blocks; k++) {
        const struct block *block = &outcome->block[k];
        printf("%s{\"iterations\": %d, \"gbytes_per_second\": %.4f, \"triads\": [%.4f, %.4f], \"reads\": [%.4f, %.4f]}",
               k ? ", " : "", block->iterations, rate_of(block, all) / 1e9, block->before.triad / 1e9,
               block->after.triad / 1e9, block->before.read / 1e9, block->after.read / 1e9);
    }
    fputs("]", stdout);
}

/* What computes, and what was measured to choose it: GB/s of the slowest process on this node. */
static void print_choice(const struct choice *choice)
{
    printf("\"kernels\": \"%s\", \"prefetch\": \"%s\", \"prefetch_bytes\": %d, ", form_names[choice->kernels.form],
           hint_names[choice->kernels.hint], choice->kernels.ahead);
    printf("\"choice\": {\"how\": \"%s\", \"same\": %s, \"seconds\": %.6f, \"rounds\": %d, \"ways\": [", choice->how,
           choice->is_same ? "true" : "false", choice->seconds, choice->rounds);
    for (int k = 0; k < choice->ways; k++) {
        const struct way *way = &choice->way[k];
        printf("%s[\"%s\", \"%s\", %d, %.4f]", k ? ", " : "", form_names[way->form], hint_names[way->hint], way->ahead,
               way->rate / 1e9);
    }
    fputs("]}, ", stdout);
}

static void print_json(const struct options *options, const struct result *result, const struct summary *all)
{
    const struct outcome *outcome = &result->outcome;
    const long long nodes[3] = {options->nodes[0], options->nodes[1], options->nodes[2]};
    printf("{\"solver\": \"unisono\", \"nodes\": [%lld, %lld, %lld], \"unknowns\": %.0f, \"parts\": [%d, %d, %d], ",
           nodes[0], nodes[1], nodes[2], all->unknowns, options->parts[0], options->parts[1], options->parts[2]);
    printf("\"ranks\": %d, \"threads\": %d, \"ordering\": \"%s\", \"colours\": %d, \"packing\": \"%s\", ", all->ranks,
           result->threads, ordering_names[options->ordering], all->colours,
           options->threaded_packing ? "threads" : "single");
    printf("\"contiguous\": %s, \"first_touch\": %s, ", options->contiguous ? "true" : "false",
           options->first_touch ? "true" : "false");
    print_choice(&result->choice);
    printf("\"end\": \"%s\", \"iterations\": %d", ends[outcome->end], outcome->iterations);
    number(", \"residual\": ", "%.6e", outcome->residual);
    number(", \"error\": ", "%.3e", result->error);
    printf(", \"seconds\": %.6f, \"setup_seconds\": %.6f, \"gflops\": %.4f, \"gbytes_per_second\": %.4f", all->seconds,
           all->setup, all->flops / 1e9, all->rate / 1e9);
    printf(", \"gbytes_per_second_best\": %.4f", all->best / 1e9);
    printf(", \"triad_before\": %.4f, \"triad_after\": %.4f, \"fraction\": %.4f, \"imbalance\": %.4f",
           result->bandwidth[0].triad / 1e9, result->bandwidth[1].triad / 1e9, all->fraction, all->imbalance);
    printf(", \"read_before\": %.4f, \"read_after\": %.4f", result->bandwidth[0].read / 1e9,
           result->bandwidth[1].read / 1e9);
    print_blocks(outcome, all);
    fputs(", \"parts_seconds\": {", stdout);
    for (int k = 0; k < COMPUTING; k++)
        printf("%s\"%s\": [%.6f, %.6f]", k ? ", " : "", names[k], all->mean[k], all->most[k]);
    fputs("}, \"history\": [", stdout);
    for (int i = 0; i < outcome->iterations; i++)
        number(i ? ", " : "", "%.4e", result->history[i]);
    puts("]}");
}

/* When the residual first fell below each power of ten. */
static void print_history(const struct outcome *outcome, const double *history)
{
    double below = 0.1;
    int power = 1;
    fputs("residual", stdout);
    for (int i = 0; i < outcome->iterations; i++)
        for (; history[i] < below && power < 17; below /= 10, power++)
            if (history[i] >= below / 10 || power == 16)
                printf(" 1e-%d at %d,", power, i + 1);
    printf(" %.2e at %d\n", outcome->residual, outcome->iterations);
}

/* All blocks together: bytes of each over the mean of the triads around it. */
static void print_beside(const struct outcome *outcome, const struct summary *all)
{
    double took = 0, bound = 0;
    for (int k = 0; k < outcome->blocks; k++) {
        const struct block *block = &outcome->block[k];
        took += block->seconds;
        bound += 2 * block->iterations * all->traffic / (block->before.triad + block->after.triad);
    }
    if (took > 0)
        printf("beside the iterations: %.0f %% of the triad measured in between\n", 100 * bound / took);
}

static void print_kernels(const struct choice *choice)
{
    printf("%s kernels, ", form_names[choice->kernels.form]);
    if (choice->kernels.hint == HINT_NONE)
        fputs("no prefetch", stdout);
    else
        printf("prefetch %s %d bytes ahead", hint_names[choice->kernels.hint], choice->kernels.ahead);
    printf(" (%s", choice->how);
    if (choice->rounds > 0)
        printf(": %d ways, %d times, %.3f s", choice->ways, choice->rounds, choice->seconds);
    printf("%s)\n", choice->is_same ? "" : "; other nodes differ");
}

static void print_table(const struct options *options, const struct result *result, const struct summary *all)
{
    const struct outcome *outcome = &result->outcome;
    printf("%lld x %lld x %lld nodes, %.0f unknowns; %d processes (%d x %d x %d) x %d threads; %s, %d "
           "colours\n",
           (long long)options->nodes[0], (long long)options->nodes[1], (long long)options->nodes[2], all->unknowns,
           all->ranks, options->parts[0], options->parts[1], options->parts[2], result->threads,
           ordering_names[options->ordering], all->colours);
    print_kernels(&result->choice);
    printf("%s after %d iterations; exact solution met to %.1e\n", ends[outcome->end], outcome->iterations,
           result->error);
    print_history(outcome, result->history);
    printf("time to solution %.4f s (set-up %.3f s), %.3f GFLOPS, %.2f GB/s by the byte model\n", all->seconds,
           all->setup, all->flops / 1e9, all->rate / 1e9);
    printf("quickest iteration %.2f GB/s; imbalance of computing %.3f\n", all->best / 1e9, all->imbalance);
    if (all->triad > 0) {
        const struct rates *before = &result->bandwidth[0], *after = &result->bandwidth[1];
        printf("%.0f %% of the triad's %.2f GB/s; best triad before %.2f, after %.2f; best reading before %.2f, after "
               "%.2f\n",
               100 * all->fraction, all->triad / 1e9, before->triad / 1e9, after->triad / 1e9, before->read / 1e9,
               after->read / 1e9);
    }
    print_beside(outcome, all);
    printf("\n%-14s %12s %12s %8s\n", "part", "mean s", "slowest s", "share");
    for (int k = 0; k < COMPUTING; k++)
        printf("%-14s %12.6f %12.6f %7.1f%%\n", names[k], all->mean[k], all->most[k],
               all->seconds > 0 ? 100 * all->mean[k] / all->seconds : 0);
}

void report_print(const struct options *options, const struct system *system, const struct result *result)
{
    const struct summary all = gather(system, result);
    if (all.rank == 0)
        (options->json ? print_json : print_table)(options, result, &all);
}
