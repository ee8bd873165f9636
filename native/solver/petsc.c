/* The solver against PETSc (KSPCG with PCSOR, local symmetric sweeps, on the same matrix as MPIBAIJ with blocks of 3).
 * Built where PETSc is installed for this MPI, for tests and benchmarks; not part of what is installed.
 *
 *     mpirun -n 2 unisono-solver-petsc check OPTIONS       one JSON object of differences
 *     mpirun -n 2 unisono-solver-petsc race ROUNDS OPTIONS of times; each round both solve, in turns
 *
 * OPTIONS are those of unisono-solver. */
#include <math.h>
#include <omp.h>
#include <petscksp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cg.h"
#include "element.h"
#include "options.h"

#define TRY(call) must((call) == 0, #call)

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "unisono-solver-petsc: %s failed\n", what);
        MPI_Abort(PETSC_COMM_WORLD, 2);
    }
}

enum { ROUNDS_MOST = 100 };

struct problem_size {
    struct mesh mesh;
    struct order order;
    struct matrix matrix;
    struct halo halo;
    struct system system;
    struct choice choice;
    double *load, *x, *history;
    PetscInt *global; /* PETSc's block row of a local number, external ones too */
};

static int rank, ranks;

static void refuse(const char *sentence)
{
    if (rank == 0)
        fprintf(stderr, "unisono-solver-petsc: %s\n", sentence);
    PetscFinalize();
    exit(2);
}

/* PETSc's rows: rank by rank, natural order in each, so its sweeps go in natural order. */
static void number_globally(struct problem_size *own)
{
    const struct mesh *mesh = &own->mesh;
    int64_t mine = mesh->owned, before = 0;
    double *vector = vector_create(&own->system, true);
    own->global = malloc((size_t)mesh->total * sizeof *own->global);
    if (vector == NULL || own->global == NULL)
        refuse("no memory");
    MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, PETSC_COMM_WORLD);
    for (int32_t i = 0; i < mesh->owned; i++)
        vector[3 * (int64_t)i] = (double)((rank == 0 ? 0 : before) + own->order.node[i]);
    halo_exchange(&own->halo, vector);
    for (int32_t i = 0; i < mesh->total; i++)
        own->global[i] = (PetscInt)vector[3 * (int64_t)i];
    free(vector);
}

static void make(struct problem_size *own, struct options *options)
{
    const struct material material = {options->young, options->poisson};
    const int threads = options->threads > 0 ? options->threads : 1;
    omp_set_num_threads(threads);
    own->system = (struct system){&own->mesh, &own->order,      &own->matrix, &own->choice.kernels,
                                  &own->halo, PETSC_COMM_WORLD, NULL,         0};
    if (options->parts[0] == 0 && !mesh_divide(options->nodes, ranks, options->parts))
        refuse("too many processes for so few nodes");
    own->history = calloc((size_t)options->limit, sizeof *own->history);
    if (!choose_is_possible(&options->wish) || own->history == NULL ||
        !mesh_create(&own->mesh, options->nodes, options->parts, rank) ||
        !order_create(&own->order, &own->mesh, options->ordering, options->colours, threads, options->contiguous) ||
        !matrix_create(&own->matrix, &own->mesh, &own->order, &material, options->first_touch) ||
        !halo_create(&own->halo, &own->mesh, &own->order, options->threaded_packing, PETSC_COMM_WORLD))
        refuse("no memory, or no such kernels");
    choose_kernels(&own->system, &options->wish, options->first_touch, &own->choice);
    own->load = vector_create(&own->system, options->first_touch);
    own->x = vector_create(&own->system, options->first_touch);
    if (own->load == NULL || own->x == NULL)
        refuse("no memory");
    matrix_load(&own->mesh, &own->order, options->stress, own->load);
    number_globally(own);
}

static Mat empty_matrix(const struct problem_size *own)
{
    Mat matrix;
    const PetscInt rows = 3 * own->mesh.owned;
    TRY(MatCreateBAIJ(PETSC_COMM_WORLD, 3, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, 27, NULL, 26, NULL, &matrix));
    return matrix;
}

static void finish(Mat matrix)
{
    TRY(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    TRY(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
}

/* Our matrix, block by block. */
static Mat copied(const struct problem_size *own)
{
    Mat matrix = empty_matrix(own);
    const struct part *parts[] = {&own->matrix.lower, &own->matrix.upper, &own->matrix.outer};
    for (int32_t row = 0; row < own->matrix.rows; row++) {
        const PetscInt at = own->global[row];
        TRY(MatSetValuesBlocked(matrix, 1, &at, 1, &at, own->matrix.diagonal + (int64_t)BLOCK * row, INSERT_VALUES));
        for (int k = 0; k < 3; k++)
            for (int64_t i = parts[k]->start[row]; i < parts[k]->start[row + 1]; i++)
                TRY(MatSetValuesBlocked(matrix, 1, &at, 1, &own->global[parts[k]->column[i]],
                                        parts[k]->value + BLOCK * i, INSERT_VALUES));
    }
    finish(matrix);
    return matrix;
}

/* Element by element, as finite element programs do it: each by the rank that owns its lowest node. */
static Mat assembled(const struct problem_size *own, const struct options *options)
{
    Mat matrix = empty_matrix(own);
    const struct mesh *mesh = &own->mesh;
    double stiffness[8][8][3][3], values[24][24];
    element_stiffness(options->young, options->poisson, stiffness);
    for (int a = 0; a < 24; a++)
        for (int b = 0; b < 24; b++)
            values[a][b] = stiffness[a / 3][b / 3][a % 3][b % 3];
    for (int32_t node = 0; node < mesh->owned; node++) {
        PetscInt corners[8];
        int32_t place[3];
        bool whole = true;
        mesh_place(mesh, node, place);
        for (int k = 0; k < 8; k++) {
            int32_t corner = mesh_node(mesh, place[0] + (k & 1), place[1] + (k >> 1 & 1), place[2] + (k >> 2));
            whole = whole && corner >= 0;
            corners[k] = corner < 0 ? 0 : own->global[corner < mesh->owned ? own->order.number[corner] : corner];
        }
        if (whole)
            TRY(MatSetValuesBlocked(matrix, 8, corners, 8, corners, &values[0][0], ADD_VALUES));
    }
    finish(matrix);
    return matrix;
}

/* Rows and columns of given displacements become the identity's. */
static void fix(const struct problem_size *own, Mat matrix)
{
    const struct mesh *mesh = &own->mesh;
    PetscInt *rows = malloc(3 * (size_t)mesh->owned * sizeof *rows), count = 0;
    if (rows == NULL)
        refuse("no memory");
    for (int32_t i = 0; i < mesh->owned; i++) {
        int32_t place[3];
        mesh_place(mesh, own->order.node[i], place);
        for (int d = 0; d < 3; d++)
            if (mesh->low[d] + place[d] == 0)
                rows[count++] = 3 * own->global[i] + d;
    }
    TRY(MatZeroRowsColumns(matrix, count, rows, 1.0, NULL, NULL));
    free(rows);
}

static Vec vector_like(Mat matrix, const struct problem_size *own, const double *values)
{
    Vec vector;
    TRY(MatCreateVecs(matrix, &vector, NULL));
    for (int32_t i = 0; values != NULL && i < own->mesh.owned; i++)
        TRY(VecSetValuesBlocked(vector, 1, &own->global[i], values + 3 * (int64_t)i, INSERT_VALUES));
    TRY(VecAssemblyBegin(vector));
    TRY(VecAssemblyEnd(vector));
    return vector;
}

static KSP conjugate_gradients(Mat matrix, const struct options *options)
{
    KSP solver;
    PC preconditioner;
    TRY(KSPCreate(PETSC_COMM_WORLD, &solver));
    TRY(KSPSetOperators(solver, matrix, matrix));
    TRY(KSPSetType(solver, KSPCG));
    TRY(KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED)); /* |r| / |b|, as ours */
    TRY(KSPSetTolerances(solver, options->tolerance, PETSC_DEFAULT, PETSC_DEFAULT, options->limit));
    TRY(KSPGetPC(solver, &preconditioner));
    TRY(PCSetType(preconditioner, PCSOR));
    TRY(PCSORSetSymmetric(preconditioner, SOR_LOCAL_SYMMETRIC_SWEEP));
    TRY(KSPSetFromOptions(solver));
    TRY(KSPSetUp(solver));
    return solver;
}

static double slowest(double seconds)
{
    double most;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
    return most;
}

static double solve_theirs(KSP solver, Vec load, Vec x)
{
    TRY(VecSet(x, 0));
    MPI_Barrier(PETSC_COMM_WORLD);
    double begun = MPI_Wtime();
    TRY(KSPSolve(solver, load, x));
    return slowest(MPI_Wtime() - begun);
}

static double solve_ours(struct problem_size *own, const struct options *options, int *iterations)
{
    memset(own->x, 0, 3 * (size_t)own->mesh.owned * sizeof *own->x);
    struct outcome outcome = cg_solve(&own->system, own->load, own->x, options->tolerance, options->limit,
                                      options->first_touch, own->history);
    *iterations = outcome.iterations;
    if (outcome.end != CG_CONVERGED)
        refuse("ours did not converge");
    return slowest(outcome.times.total);
}

/* |ours - theirs| / |theirs| of the solutions. */
static double difference(const struct problem_size *own, Mat matrix, Vec theirs)
{
    double norm, apart;
    Vec ours = vector_like(matrix, own, own->x);
    TRY(VecNorm(theirs, NORM_2, &norm));
    TRY(VecAXPY(ours, -1, theirs));
    TRY(VecNorm(ours, NORM_2, &apart));
    TRY(VecDestroy(&ours));
    return apart / norm;
}

static void check(struct problem_size *own, const struct options *options)
{
    double size, apart;
    int ours;
    PetscInt theirs;
    Mat copy = copied(own), elements = assembled(own, options);
    Vec load = vector_like(copy, own, own->load), x = vector_like(copy, own, NULL);
    KSP solver = conjugate_gradients(copy, options);
    solve_theirs(solver, load, x);
    TRY(KSPGetIterationNumber(solver, &theirs));
    solve_ours(own, options, &ours);
    double solutions = difference(own, copy, x);
    TRY(KSPDestroy(&solver));
    fix(own, copy), fix(own, elements);
    TRY(MatNorm(elements, NORM_FROBENIUS, &size));
    TRY(MatAXPY(elements, -1, copy, SAME_NONZERO_PATTERN));
    TRY(MatNorm(elements, NORM_FROBENIUS, &apart));
    if (rank == 0)
        printf("{\"petsc\": \"%d.%d.%d\", \"matrix\": %.3e, \"solution\": %.3e, \"iterations\": [%d, %d]}\n",
               PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, apart / size, solutions, ours,
               (int)theirs);
    TRY(VecDestroy(&load)), TRY(VecDestroy(&x)), TRY(MatDestroy(&copy)), TRY(MatDestroy(&elements));
}

static void race(struct problem_size *own, const struct options *options, int rounds)
{
    double seconds[2][ROUNDS_MOST], solutions;
    int ours;
    PetscInt theirs;
    Mat copy = copied(own);
    Vec load = vector_like(copy, own, own->load), x = vector_like(copy, own, NULL);
    KSP solver = conjugate_gradients(copy, options);
    TRY(KSPSetTolerances(solver, options->tolerance, PETSC_DEFAULT, PETSC_DEFAULT, 3));
    solve_theirs(solver, load, x); /* what PETSc prepares at the first sweep is not counted */
    TRY(KSPSetTolerances(solver, options->tolerance, PETSC_DEFAULT, PETSC_DEFAULT, options->limit));
    for (int round = 0; round < rounds; round++)
        for (int turn = 0; turn < 2; turn++)
            if ((round + turn) % 2 == 0)
                seconds[0][round] = solve_ours(own, options, &ours);
            else
                seconds[1][round] = solve_theirs(solver, load, x);
    TRY(KSPGetIterationNumber(solver, &theirs));
    solutions = difference(own, copy, x);
    if (rank == 0) {
        printf("{\"petsc\": \"%d.%d.%d\", \"solution\": %.3e, \"iterations\": [%d, %d], \"choice_seconds\": %.6f, "
               "\"seconds\": [",
               PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, solutions, ours, (int)theirs,
               own->choice.seconds);
        for (int round = 0; round < rounds; round++)
            printf("%s[%.6f, %.6f]", round ? ", " : "", seconds[0][round], seconds[1][round]);
        puts("]}");
    }
    TRY(KSPDestroy(&solver)), TRY(VecDestroy(&load)), TRY(VecDestroy(&x)), TRY(MatDestroy(&copy));
}

static void discard(struct problem_size *own)
{
    free(own->load), free(own->x), free(own->history), free(own->global);
    halo_free(&own->halo);
    matrix_free(&own->matrix);
    order_free(&own->order);
    mesh_free(&own->mesh);
}

int main(int argc, char **argv)
{
    static struct problem_size own;
    struct options options;
    struct problem problem = {""};
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    TRY(PetscInitializeNoArguments());
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    const bool racing = argc > 2 && strcmp(argv[1], "race") == 0;
    const int rounds = racing ? atoi(argv[2]) : 0, first = racing ? 2 : 1;
    if (argc < 2 || (!racing && strcmp(argv[1], "check") != 0) || (racing && (rounds < 1 || rounds > ROUNDS_MOST)))
        refuse("say check or race ROUNDS, then options of unisono-solver");
    if (!options_read(&options, argc - first, argv + first, &problem))
        refuse(problem.text);
    make(&own, &options);
    if (racing)
        race(&own, &options, rounds);
    else
        check(&own, &options);
    discard(&own);
    PetscFinalize();
    MPI_Finalize();
    return 0;
}
