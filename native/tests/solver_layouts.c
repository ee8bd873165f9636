/* The solver gives the same answer in every layout: orderings, threads, numbering, placement, packing, kernels and
 * boxes, on as many ranks as it is started with. Its matrix is the same symmetric positive definite one in all of
 * them, its preconditioner too is symmetric, and uniform tension comes out exactly. */
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "cg.h"
#include "check.h"
#include "patience.h"

enum { X = 7, Y = 6, Z = 5, NODES = X * Y * Z, LIMIT = 500 };

struct layout {
    int parts[3];
    enum ordering ordering;
    int colours, threads;
    bool contiguous, first_touch, threaded_packing;
    enum form form; /* portable where the processor does not have it */
    enum hint hint;
};

struct box {
    struct mesh mesh;
    struct order order;
    struct matrix matrix;
    struct halo halo;
    struct kernels kernels;
    struct system system;
    double *x, *load;
};

/* What must not depend on the layout. */
struct answer {
    double x[3 * NODES], curvature, mixed;
};

static int ranks, rank;

static int64_t place_of(const struct box *box, int32_t number)
{
    int32_t at[3];
    const struct mesh *mesh = &box->mesh;
    mesh_place(mesh, box->order.node[number], at);
    return ((mesh->low[2] + at[2]) * Y + mesh->low[1] + at[1]) * X + mesh->low[0] + at[0];
}

/* Between -1/2 and 1/2, from the place in the whole cube alone; 0 where a displacement is given. */
static double scattered(int64_t place, int d, uint64_t seed)
{
    const int64_t at[3] = {place % X, place / X % Y, place / X / Y};
    uint64_t bits = ((uint64_t)place * 3 + (uint64_t)d + seed) * UINT64_C(0x9E3779B97F4A7C15);
    bits = (bits ^ bits >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return at[d] == 0 ? 0 : (double)(bits >> 11) / (double)(UINT64_C(1) << 53) - 0.5;
}

static void scatter(const struct box *box, double *vector, uint64_t seed)
{
    for (int32_t i = 0; i < box->mesh.owned; i++)
        for (int d = 0; d < 3; d++)
            vector[3 * i + d] = scattered(place_of(box, i), d, seed);
}

static double dot(const struct box *box, const double *left, const double *right)
{
    double sum = 0, all;
    for (int32_t i = 0; i < 3 * box->mesh.owned; i++)
        sum += left[i] * right[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void make(struct box *box, const struct layout *layout)
{
    const int64_t nodes[3] = {X, Y, Z};
    const struct material material = {2, 0.3};
    box->kernels = kernels_get(kernels_available(layout->form) ? layout->form : FORM_PORTABLE, layout->hint, 3072);
    box->system =
        (struct system){&box->mesh, &box->order, &box->matrix, &box->kernels, &box->halo, MPI_COMM_WORLD, NULL, 0};
    omp_set_num_threads(layout->threads);
    CHECK(mesh_create(&box->mesh, nodes, layout->parts, rank));
    CHECK(
        order_create(&box->order, &box->mesh, layout->ordering, layout->colours, layout->threads, layout->contiguous));
    CHECK(matrix_create(&box->matrix, &box->mesh, &box->order, &material, layout->first_touch));
    CHECK(halo_create(&box->halo, &box->mesh, &box->order, layout->threaded_packing, MPI_COMM_WORLD));
    box->x = vector_create(&box->system, layout->first_touch);
    box->load = vector_create(&box->system, layout->first_touch);
    CHECK(box->x != NULL && box->load != NULL);
}

static void discard(struct box *box)
{
    free(box->x), free(box->load);
    halo_free(&box->halo);
    matrix_free(&box->matrix);
    order_free(&box->order);
    mesh_free(&box->mesh);
}

static struct outcome solve(struct box *box, const struct layout *layout)
{
    double history[LIMIT];
    struct outcome outcome = cg_solve(&box->system, box->load, box->x, 1e-12, LIMIT, layout->first_touch, history);
    CHECK(outcome.end == CG_CONVERGED && outcome.iterations > 0);
    return outcome;
}

/* u = stress / young (-poisson x, -poisson y, z), stress 3 and young 2. */
static void check_tension(struct box *box, const struct layout *layout)
{
    matrix_load(&box->mesh, &box->order, 3, box->load);
    solve(box, layout);
    for (int32_t i = 0; i < box->mesh.owned; i++) {
        int64_t place = place_of(box, i), at[3] = {place % X, place / X % Y, place / X / Y};
        for (int d = 0; d < 3; d++)
            CHECK(fabs(box->x[3 * i + d] - 1.5 * (double)at[d] * (d < 2 ? -0.3 : 1)) < 1e-8);
    }
}

static void check_symmetry(struct box *box, struct answer *answer)
{
    double *v[4];
    for (int k = 0; k < 4; k++)
        v[k] = vector_create(&box->system, false);
    scatter(box, v[0], 1), scatter(box, v[1], 2);
    system_product(&box->system, v[0], v[2]);
    system_product(&box->system, v[1], v[3]);
    answer->curvature = dot(box, v[0], v[2]);
    answer->mixed = dot(box, v[1], v[2]);
    CHECK(answer->curvature > 0 && fabs(answer->mixed - dot(box, v[0], v[3])) < 1e-12);
    system_precondition(&box->system, v[0], v[2]);
    system_precondition(&box->system, v[1], v[3]);
    CHECK(dot(box, v[0], v[2]) > 0 && fabs(dot(box, v[1], v[2]) - dot(box, v[0], v[3])) < 1e-12);
    for (int k = 0; k < 4; k++)
        free(v[k]);
}

/* The answer to a load without any pattern, by place in the cube; how many iterations it took. */
static int answer_of(const struct layout *layout, struct answer *answer)
{
    static double own[3 * NODES];
    struct box box;
    make(&box, layout);
    check_symmetry(&box, answer);
    check_tension(&box, layout);
    scatter(&box, box.load, 3);
    memset(box.x, 0, 3 * (size_t)box.mesh.owned * sizeof *box.x);
    int iterations = solve(&box, layout).iterations;
    memset(own, 0, sizeof own);
    for (int32_t i = 0; i < box.mesh.owned; i++)
        memcpy(own + 3 * place_of(&box, i), box.x + 3 * i, 3 * sizeof *own);
    MPI_Allreduce(own, answer->x, 3 * NODES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    discard(&box);
    return iterations;
}

static void check_same(const struct answer *expected, const struct answer *found)
{
    double largest = 0, difference = 0;
    for (int i = 0; i < 3 * NODES; i++) {
        largest = fmax(largest, fabs(expected->x[i]));
        difference = fmax(difference, fabs(found->x[i] - expected->x[i]));
    }
    CHECK(largest > 0 && difference < 1e-9 * largest);
    CHECK(fabs(found->curvature - expected->curvature) < 1e-12 && fabs(found->mixed - expected->mixed) < 1e-12);
}

/* Threads and numbering, placement, packing and kernels with them, change the rounding alone. */
static void check_ordering(const struct answer *expected, struct layout layout)
{
    static struct answer found;
    const int iterations = answer_of(&layout, &found);
    check_same(expected, &found);
    for (int variant = 1; variant < 6; variant++) {
        layout.threads = 1 + variant % 3;
        layout.contiguous = variant / 3 == 0;
        layout.first_touch = variant % 2 == 0;
        layout.threaded_packing = variant % 4 < 2;
        layout.form = (enum form)(variant % FORMS);
        layout.hint = (enum hint)(variant % HINTS);
        CHECK(abs(answer_of(&layout, &found) - iterations) <= 1);
        check_same(expected, &found);
    }
}

int main(int argc, char **argv)
{
    static struct answer expected;
    const int64_t nodes[3] = {X, Y, Z};
    int provided, cut[3], failed;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    omp_set_dynamic(0);
    patience_learn(MPI_COMM_WORLD, 3); /* the most threads below */
    const struct layout first = {{1, 1, ranks}, ORDER_NATURAL, 0, 1, true, true, false, FORM_PORTABLE, HINT_NONE};
    CHECK(ranks <= Z && mesh_divide(nodes, ranks, cut));
    answer_of(&first, &expected);
    for (int ordering = 0; ordering < ORDERINGS; ordering++) {
        struct layout layout = {{1, 1, 1}, (enum ordering)ordering, 10, 1, true, true, false, FORM_AVX2, HINT_T0};
        layout.parts[ordering % 3] = ranks; /* slabs of every direction */
        check_ordering(&expected, layout);
    }
    const struct layout boxes = {{cut[0], cut[1], cut[2]}, ORDER_CMRCM, 10, 2, true, true, true, FORM_AVX2, HINT_T0};
    check_ordering(&expected, boxes);
    MPI_Allreduce(&failures, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    failures = failed;
    MPI_Finalize();
    return verdict();
}
