/* The element, the matrix and its kernels: symmetric, positive definite, rigid motions free of force, all forms alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "element.h"
#include "kernels.h"
#include "matrix.h"

static double random_value(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24) - 0.5;
}

static void check_element(void)
{
    double stiffness[8][8][3][3];
    element_stiffness(2.5, 0.3, stiffness);
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++) {
            double moved[3] = {0, 0, 0}, turned = 0;
            for (int b = 0; b < 8; b++) {
                for (int k = 0; k < 3; k++) {
                    moved[k] += stiffness[a][b][i][k];
                    CHECK(fabs(stiffness[a][b][i][k] - stiffness[b][a][k][i]) < 1e-14);
                }
                turned += stiffness[a][b][i][0] * -(b >> 1 & 1) + stiffness[a][b][i][1] * (b & 1);
            }
            CHECK(fabs(moved[0]) + fabs(moved[1]) + fabs(moved[2]) < 1e-14 && fabs(turned) < 1e-14);
        }
    CHECK(stiffness[0][0][0][0] > 0);
}

struct box {
    struct mesh mesh;
    struct order order;
    struct matrix matrix;
};

static void make(struct box *box, enum ordering ordering, int threads)
{
    const int64_t nodes[3] = {6, 5, 7};
    const int parts[3] = {1, 1, 1};
    const struct material material = {1, 0.3};
    CHECK(mesh_create(&box->mesh, nodes, parts, 0));
    CHECK(order_create(&box->order, &box->mesh, ordering, 10, threads, true));
    CHECK(matrix_create(&box->matrix, &box->mesh, &box->order, &material, threads > 1));
}

static void discard(struct box *box)
{
    matrix_free(&box->matrix);
    order_free(&box->order);
    mesh_free(&box->mesh);
}

/* z = M^-1 r by sweeps over the colours. */
static void precondition(const struct box *box, const struct kernels *kernels, const double *r, double *z)
{
    const struct order *order = &box->order;
    for (int c = 0; c < order->colours; c++)
        for (int t = 0; t < order->threads; t++) {
            const struct range own = order_share(order, c, t);
            kernels->forward(&box->matrix, r, z, own.from, own.to, kernels->ahead);
        }
    for (int c = order->colours - 1; c >= 0; c--)
        for (int t = 0; t < order->threads; t++) {
            const struct range own = order_share(order, c, t);
            kernels->backward(&box->matrix, z, own.from, own.to, kernels->ahead);
        }
}

/* M z, written as the formula (D + L) D^-1 (D + U) z: r must come out. */
static double formula_error(const struct box *box, const double *r, const double *z)
{
    const struct matrix *matrix = &box->matrix;
    size_t n = 3 * (size_t)matrix->rows;
    double *w = calloc(n, sizeof *w), worst = 0;
    for (int pass = 0; pass < 2; pass++) {
        const struct part *part = pass == 0 ? &matrix->upper : &matrix->lower;
        for (int32_t row = 0; row < matrix->rows; row++) {
            double sum[3] = {0, 0, 0};
            for (int64_t k = part->start[row]; k < part->start[row + 1]; k++)
                for (int i = 0; i < 9; i++)
                    sum[i / 3] += part->value[9 * k + i] * (pass == 0 ? z : w)[3 * part->column[k] + i % 3];
            for (int i = 0; pass == 0 && i < 3; i++) { /* w = z + D^-1 U z */
                w[3 * row + i] = z[3 * row + i];
                for (int k = 0; k < 3; k++)
                    w[3 * row + i] += matrix->inverse[9 * row + 3 * i + k] * sum[k];
            }
            for (int i = 0; pass == 1 && i < 3; i++) { /* D w + L w = r */
                for (int k = 0; k < 3; k++)
                    sum[i] += matrix->diagonal[9 * row + 3 * i + k] * w[3 * row + k];
                worst = fmax(worst, fabs(sum[i] - r[3 * row + i]));
            }
        }
    }
    free(w);
    return worst;
}

static void check_matrix(enum ordering ordering, int threads, enum form form)
{
    if (!kernels_available(form))
        return;
    const struct kernels kernels = kernels_get(form, HINT_T0, 3072), plain = kernels_get(FORM_PORTABLE, HINT_NONE, 0);
    struct box box;
    make(&box, ordering, threads);
    size_t n = 3 * (size_t)box.matrix.rows;
    double *v[6], xy = 0, yx = 0, xx = 0, difference = 0;
    unsigned state = 7;
    for (int k = 0; k < 6; k++)
        v[k] = calloc(n + 1, sizeof *v[k]);
    for (size_t i = 0; i < n; i++)
        v[0][i] = random_value(&state), v[1][i] = random_value(&state);
    kernels.product(&box.matrix, v[0], v[2], 0, box.matrix.rows, kernels.ahead);
    kernels.product(&box.matrix, v[1], v[3], 0, box.matrix.rows, kernels.ahead);
    plain.product(&box.matrix, v[0], v[4], 0, box.matrix.rows, plain.ahead);
    for (size_t i = 0; i < n; i++) {
        yx += v[1][i] * v[2][i], xy += v[0][i] * v[3][i], xx += v[0][i] * v[2][i];
        difference = fmax(difference, fabs(v[4][i] - v[2][i]));
    }
    CHECK(fabs(xy - yx) < 1e-12 * fabs(xx) && xx > 0);
    CHECK(difference < 1e-13);
    precondition(&box, &kernels, v[0], v[5]);
    CHECK(formula_error(&box, v[0], v[5]) < 1e-12);
    for (int k = 0; k < 6; k++)
        free(v[k]);
    discard(&box);
}

/* What a measurement chooses from must not show in a result: AVX2 and AVX-512 with every hint and distance, and the
 * portable form with each, give the same bits. Returns how many ways were compared. */
static int check_bits(enum form first, enum form last)
{
    static const int distances[] = {64, 3072, 65536};
    struct box box;
    int compared = 0;
    unsigned state = 11;
    make(&box, ORDER_CMRCM, 2);
    const size_t n = 3 * (size_t)box.matrix.rows;
    double *x = calloc(n + 1, sizeof *x), *expected[2] = {NULL, NULL};
    for (size_t i = 0; i < n; i++)
        x[i] = random_value(&state);
    for (int form = (int)first; form <= (int)last; form++)
        for (int hint = 0; hint < HINTS && kernels_available((enum form)form); hint++)
            for (int k = 0; k < 3; k++) {
                const struct kernels kernels = kernels_get((enum form)form, (enum hint)hint, distances[k]);
                CHECK(kernels.ahead == (hint == HINT_NONE ? 0 : distances[k]));
                double *found[2] = {calloc(n + 1, sizeof *x), calloc(n + 1, sizeof *x)};
                kernels.product(&box.matrix, x, found[0], 0, box.matrix.rows, kernels.ahead);
                precondition(&box, &kernels, x, found[1]);
                for (int of = 0; of < 2; of++) {
                    if (expected[of] != NULL)
                        CHECK(memcmp(expected[of], found[of], n * sizeof *x) == 0);
                    free(expected[of]);
                    expected[of] = found[of];
                }
                compared++;
            }
    free(expected[0]), free(expected[1]), free(x);
    discard(&box);
    return compared;
}

int main(void)
{
    check_element();
    for (int ordering = 0; ordering < ORDERINGS; ordering++)
        for (int form = 0; form < FORMS; form++)
            for (int threads = 1; threads <= 3; threads++)
                check_matrix((enum ordering)ordering, threads, (enum form)form);
    CHECK(check_bits(FORM_PORTABLE, FORM_PORTABLE) == 3 * HINTS);
    const int fused = kernels_available(FORM_AVX2) + kernels_available(FORM_AVX512);
    CHECK(check_bits(FORM_AVX2, FORM_AVX512) == 3 * HINTS * fused);
    return verdict();
}
