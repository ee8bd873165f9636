#include "cg.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"
#include "patience.h"

enum { LINE = 8 };  /* doubles of a cache line: threads' sums do not share one */
enum { TRIED = 6 }; /* sweeps of one thread that tell how to sweep */

double *vector_create(const struct system *system, bool first_touch)
{
    const struct order *order = system->order;
    const size_t bytes = ((size_t)system->mesh->total * 3 + 1) * sizeof(double);
    double *vector = pages_take(bytes);
    if (vector == NULL)
        return NULL;
    if (first_touch) {
#pragma omp parallel num_threads(order->threads)
        for (int colour = 0; colour < order->colours; colour++) {
            struct range own = order_share(order, colour, omp_get_thread_num());
            memset(vector + 3 * (int64_t)own.from, 0, (size_t)(own.to - own.from) * 3 * sizeof *vector);
        }
        memset(vector + 3 * (int64_t)system->mesh->owned, 0, bytes - (size_t)system->mesh->owned * 3 * sizeof *vector);
    } else {
        memset(vector, 0, bytes);
    }
    return vector;
}

void system_product(const struct system *system, double *vector, double *product)
{
    const struct order *order = system->order;
    halo_exchange(system->halo, vector);
#pragma omp parallel num_threads(order->threads)
    {
        const int thread = omp_get_thread_num();
        for (int k = order->runs[thread]; k < order->runs[thread + 1]; k++)
            system->kernels->product(system->matrix, vector, product, order->run[k].from, order->run[k].to,
                                     system->kernels->ahead);
    }
}

/* One thread sweeps in waves, which read a vector once from memory (walk.h), or colour by colour, which is better while
 * the vector fits into what this process has of a cache. Which it is cannot be asked, so the first sweeps try both. */
static void precondition_alone(const struct system *system, const double *r, double *z, struct times *times)
{
    const struct order *order = system->order;
    const bool is_wave = times->sweeps < TRIED ? times->sweeps % 2 == 0 : times->quickest[1] <= times->quickest[0];
    const int count = is_wave ? order->runs[1] : order->colours;
    const double begun = MPI_Wtime();
    for (int k = 0; k < count; k++) {
        const struct range own =
            is_wave ? (struct range){order->wave[k].from, order->wave[k].to} : order_share(order, k, 0);
        system->kernels->forward(system->matrix, r, z, own.from, own.to, system->kernels->ahead);
    }
    const double turned = MPI_Wtime();
    for (int k = count - 1; k >= 0; k--) {
        const struct range own =
            is_wave ? (struct range){order->wave[k].from, order->wave[k].to} : order_share(order, k, 0);
        if ((is_wave ? order->wave[k].colour : k) < order->colours - 1) /* the last colour has nothing after it */
            system->kernels->backward(system->matrix, z, own.from, own.to, system->kernels->ahead);
    }
    const double ended = MPI_Wtime();
    times->forward += turned - begun;
    times->backward += ended - turned;
    if (times->sweeps++ < TRIED && (times->quickest[is_wave] == 0 || ended - begun < times->quickest[is_wave]))
        times->quickest[is_wave] = ended - begun;
}

static void precondition(const struct system *system, const double *r, double *z, struct times *times)
{
    const struct order *order = system->order;
    if (order->threads == 1) {
        precondition_alone(system, r, z, times);
        return;
    }
    double begun = MPI_Wtime(), turned = 0;
#pragma omp parallel num_threads(order->threads)
    {
        const int thread = omp_get_thread_num();
        for (int colour = 0; colour < order->colours; colour++) {
            struct range own = order_share(order, colour, thread);
            system->kernels->forward(system->matrix, r, z, own.from, own.to, system->kernels->ahead);
#pragma omp barrier
        }
#pragma omp master
        turned = MPI_Wtime();
        for (int colour = order->colours - 2; colour >= 0; colour--) {
            struct range own = order_share(order, colour, thread);
            system->kernels->backward(system->matrix, z, own.from, own.to, system->kernels->ahead);
#pragma omp barrier
        }
    }
    times->forward += turned - begun;
    times->backward += MPI_Wtime() - turned;
}

void system_precondition(const struct system *system, const double *r, double *z)
{
    struct times times = {0};
    precondition(system, r, z, &times);
}

/* One pass over the vectors, by each thread over its own numbers. Returns this process's sum. */
enum pass { PASS_DOT, PASS_DIRECTION, PASS_STEP };

struct vectors {
    double *restrict x, *restrict r, *restrict z, *restrict p, *restrict q;
};

static inline double step(const struct vectors *v, double factor, int64_t i)
{
    v->x[i] += factor * v->p[i];
    v->r[i] -= factor * v->q[i];
    return v->r[i] * v->r[i];
}

/* Eight sums side by side: one would wait for every addition. */
static double over_range(enum pass pass, const struct vectors *v, double factor, struct range own)
{
    double sums[LINE] = {0}, sum = 0;
    const int64_t from = 3 * (int64_t)own.from, to = 3 * (int64_t)own.to, whole = from + (to - from) / LINE * LINE;
    switch (pass) {
    case PASS_DOT: /* r z */
        for (int64_t i = from; i < whole; i += LINE)
            for (int k = 0; k < LINE; k++)
                sums[k] += v->r[i + k] * v->z[i + k];
        for (int64_t i = whole; i < to; i++)
            sum += v->r[i] * v->z[i];
        break;
    case PASS_DIRECTION: /* p = z + beta p */
        for (int64_t i = from; i < to; i++)
            v->p[i] = v->z[i] + factor * v->p[i];
        break;
    case PASS_STEP: /* x += alpha p, r -= alpha q; r r */
        for (int64_t i = from; i < whole; i += LINE)
            for (int k = 0; k < LINE; k++)
                sums[k] += step(v, factor, i + k);
        for (int64_t i = whole; i < to; i++)
            sum += step(v, factor, i);
    }
    for (int k = 0; k < LINE; k++)
        sum += sums[k];
    return sum;
}

static double sweep(const struct system *system, enum pass pass, const struct vectors *v, double factor,
                    double *partial)
{
    const struct order *order = system->order;
#pragma omp parallel num_threads(order->threads)
    {
        const int thread = omp_get_thread_num();
        double sum = 0;
        for (int colour = 0; colour < order->colours; colour++)
            sum += over_range(pass, v, factor, order_share(order, colour, thread));
        partial[thread * LINE] = sum;
    }
    double sum = 0;
    for (int thread = 0; thread < order->threads; thread++)
        sum += partial[thread * LINE];
    return sum;
}

static double everywhere(const struct system *system, double sum, struct times *times)
{
    double all, begun = MPI_Wtime();
    patience_allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, system->comm);
    times->allreduce += MPI_Wtime() - begun;
    return all;
}

static double dot(const struct system *system, double *left, double *right, double *partial, struct times *times)
{
    const struct vectors v = {.r = left, .z = right};
    double begun = MPI_Wtime();
    double own = sweep(system, PASS_DOT, &v, 0, partial);
    times->dots += MPI_Wtime() - begun;
    return everywhere(system, own, times);
}

static double timed(const struct system *system, enum pass pass, const struct vectors *v, double factor,
                    double *partial, double *seconds)
{
    double begun = MPI_Wtime(), sum = sweep(system, pass, v, factor, partial);
    *seconds += MPI_Wtime() - begun;
    return sum;
}

static double exchange_seconds(const struct halo *halo)
{
    return halo->pack_seconds + halo->exchange_seconds;
}

/* Measures the bandwidth, which ends a block of iterations and, unless it was the last, begins another. Returns what it
 * took. */
static double measure_beside(const struct system *system, struct outcome *outcome, bool last)
{
    const double begun = MPI_Wtime();
    const struct rates now = bandwidth_pass(system->beside);
    if (outcome->blocks > 0)
        outcome->block[outcome->blocks - 1].after = now;
    if (!last)
        outcome->block[outcome->blocks++] = (struct block){.before = now};
    return MPI_Wtime() - begun;
}

static void iterate(const struct system *system, const struct vectors *v, double norm, double tolerance, int limit,
                    double *partial, double *history, struct outcome *outcome, double *paused)
{
    struct times *times = &outcome->times;
    double rho_before = 1;
    outcome->end = CG_LIMIT;
    while (outcome->iterations < limit) {
        if (system->beside != NULL && outcome->iterations % system->every == 0)
            *paused += measure_beside(system, outcome, false);
        const double started = MPI_Wtime();
        precondition(system, v->r, v->z, times);
        double rho = dot(system, v->r, v->z, partial, times);
        timed(system, PASS_DIRECTION, v, outcome->iterations == 0 ? 0 : rho / rho_before, partial, &times->vectors);
        double exchanged = exchange_seconds(system->halo), begun = MPI_Wtime();
        system_product(system, v->p, v->q);
        times->product += MPI_Wtime() - begun - (exchange_seconds(system->halo) - exchanged);
        double curvature = dot(system, v->p, v->q, partial, times);
        if (!(curvature > 0) || !(rho > 0)) { /* not positive definite, or not a number */
            outcome->end = CG_BROKEN;
            return;
        }
        double square = timed(system, PASS_STEP, v, rho / curvature, partial, &times->vectors);
        outcome->residual = sqrt(everywhere(system, square, times)) / norm;
        history[outcome->iterations++] = outcome->residual;
        const double took = MPI_Wtime() - started;
        outcome->quickest = outcome->iterations == 1 ? took : fmin(outcome->quickest, took);
        if (outcome->blocks > 0) {
            outcome->block[outcome->blocks - 1].iterations++;
            outcome->block[outcome->blocks - 1].seconds += took;
        }
        rho_before = rho;
        if (outcome->residual <= tolerance || !isfinite(outcome->residual)) {
            outcome->end = isfinite(outcome->residual) ? CG_CONVERGED : CG_BROKEN;
            return;
        }
    }
}

struct outcome cg_solve(const struct system *system, const double *load, double *x, double tolerance, int limit,
                        bool first_touch, double *history)
{
    struct outcome outcome = {.residual = 1};
    struct vectors v = {x, vector_create(system, first_touch), vector_create(system, first_touch),
                        vector_create(system, first_touch), vector_create(system, first_touch)};
    double *partial = calloc((size_t)system->order->threads * LINE, sizeof *partial);
    if (system->beside != NULL)
        outcome.block = calloc((size_t)(limit / system->every + 2), sizeof *outcome.block);
    int good = (system->beside == NULL || outcome.block != NULL) && v.r != NULL && v.z != NULL && v.p != NULL &&
               v.q != NULL && partial != NULL;
    int all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, system->comm);
    outcome.end = CG_NO_MEMORY;
    if (all) {
        memcpy(v.r, load, (size_t)system->mesh->owned * 3 * sizeof *load);
        double norm = sqrt(dot(system, v.r, v.r, partial, &outcome.times));
        outcome.times = (struct times){0};
        system->halo->pack_seconds = system->halo->exchange_seconds = 0;
        MPI_Barrier(system->comm);
        double begun = MPI_Wtime(), paused = 0;
        if (norm > 0)
            iterate(system, &v, norm, tolerance, limit, partial, history, &outcome, &paused);
        else
            outcome.end = CG_CONVERGED, outcome.residual = 0;
        outcome.times.total = MPI_Wtime() - begun - paused;
        if (outcome.blocks > 0)
            measure_beside(system, &outcome, true);
    }
    free(v.r), free(v.z), free(v.p), free(v.q), free(partial);
    return outcome;
}
