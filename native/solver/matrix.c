#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "pages.h"

/* What a row is made from: its neighbours in the mesh, by direction, and the blocks. */
struct row {
    int32_t node[DIRECTIONS];
    double block[DIRECTIONS][BLOCK];
};

struct assembly {
    const struct mesh *mesh;
    const struct order *order;
    double stiffness[8][8][3][3];
};

int64_t matrix_bytes(const struct mesh *mesh)
{
    const int64_t block = BLOCK * sizeof(double) + sizeof(int32_t), vectors = 6 * 3 * sizeof(double);
    return mesh->owned * (26 * block + 2 * BLOCK * (int64_t)sizeof(double) + vectors + 48);
}

/* Adds the eight elements around a node, as far as they are in the cube. */
static void add_elements(const struct assembly *assembly, const int32_t place[3], struct row *row)
{
    const struct mesh *mesh = assembly->mesh;
    memset(row->block, 0, sizeof row->block);
    for (int element = 0; element < 8; element++) {
        bool exists = true;
        int own = 0; /* which of the element's nodes this is */
        for (int d = 0; d < 3; d++) {
            int64_t low = mesh->low[d] + place[d] - (element >> d & 1 ? 0 : 1);
            exists = exists && low >= 0 && low + 1 < mesh->nodes[d];
            own |= (element >> d & 1 ? 0 : 1) << d;
        }
        for (int other = 0; exists && other < 8; other++) {
            int direction = CENTRE, weight = 1;
            for (int d = 0; d < 3; d++, weight *= 3)
                direction += weight * ((other >> d & 1) - (own >> d & 1));
            const double *block = &assembly->stiffness[own][other][0][0];
            for (int i = 0; i < BLOCK; i++)
                row->block[direction][i] += block[i];
        }
    }
}

/* Bit d: displacement d of this node is given. */
static int fixed(const struct mesh *mesh, const int32_t place[3])
{
    int bits = 0;
    for (int d = 0; d < 3; d++)
        bits |= (mesh->low[d] + place[d] == 0) << d;
    return bits;
}

static void fix(const struct mesh *mesh, const int32_t place[3], struct row *row)
{
    const int own = fixed(mesh, place);
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        const int32_t there[3] = {place[0] + direction % 3 - 1, place[1] + direction / 3 % 3 - 1,
                                  place[2] + direction / 9 - 1};
        const int other = fixed(mesh, there);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                if (((own >> i & 1) || (other >> k & 1)) && !(direction == CENTRE && i == k))
                    row->block[direction][3 * i + k] = 0;
    }
}

static void look_around(const struct assembly *assembly, int32_t number, int32_t place[3], struct row *row)
{
    mesh_place(assembly->mesh, assembly->order->node[number], place);
    for (int direction = 0; direction < DIRECTIONS; direction++)
        row->node[direction] = mesh_node(assembly->mesh, place[0] + direction % 3 - 1, place[1] + direction / 3 % 3 - 1,
                                         place[2] + direction / 9 - 1);
}

static struct part *part_of(struct matrix *matrix, const struct assembly *assembly, int32_t own, int32_t node)
{
    if (node >= assembly->mesh->owned)
        return &matrix->outer;
    const int32_t *colour = assembly->order->colour;
    return colour[node] < colour[own] ? &matrix->lower : &matrix->upper;
}

/* Column after column. */
static void invert(const double a[BLOCK], double inverse[BLOCK])
{
    const double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8], c2 = a[3] * a[7] - a[4] * a[6];
    const double over = 1 / (a[0] * c0 + a[1] * c1 + a[2] * c2);
    const double adjugate[BLOCK] = {c0, a[2] * a[7] - a[1] * a[8], a[1] * a[5] - a[2] * a[4],
                                    c1, a[0] * a[8] - a[2] * a[6], a[2] * a[3] - a[0] * a[5],
                                    c2, a[1] * a[6] - a[0] * a[7], a[0] * a[4] - a[1] * a[3]};
    for (int i = 0; i < BLOCK; i++)
        inverse[i] = adjugate[3 * (i % 3) + i / 3] * over;
}

static void fill_row(struct matrix *matrix, const struct assembly *assembly, int32_t number)
{
    struct row row;
    int32_t place[3], own = assembly->order->node[number];
    look_around(assembly, number, place, &row);
    add_elements(assembly, place, &row);
    fix(assembly->mesh, place, &row);
    memcpy(matrix->diagonal + (int64_t)BLOCK * number, row.block[CENTRE], sizeof row.block[CENTRE]);
    invert(row.block[CENTRE], matrix->inverse + (int64_t)BLOCK * number);
    int64_t next[3] = {matrix->lower.start[number], matrix->upper.start[number], matrix->outer.start[number]};
    for (int direction = 0; direction < DIRECTIONS; direction++) {
        int32_t node = row.node[direction];
        if (direction == CENTRE || node < 0)
            continue;
        struct part *part = part_of(matrix, assembly, own, node);
        int64_t at = next[part == &matrix->lower ? 0 : part == &matrix->upper ? 1 : 2]++;
        part->column[at] = assembly->order->number[node];
        memcpy(part->value + BLOCK * at, row.block[direction], sizeof row.block[direction]);
    }
}

static bool allocate(struct part *part, int32_t rows)
{
    part->column = pages_take((size_t)part->start[rows] * sizeof *part->column);
    part->value = pages_take((size_t)part->start[rows] * BLOCK * sizeof *part->value);
    return part->column != NULL && part->value != NULL;
}

/* How many blocks each row has in each part, then where they begin. */
static void count(struct matrix *matrix, const struct assembly *assembly)
{
    struct part *parts[] = {&matrix->lower, &matrix->upper, &matrix->outer};
    for (int k = 0; k < 3; k++)
        parts[k]->start[0] = 0;
#pragma omp parallel for schedule(static)
    for (int32_t number = 0; number < matrix->rows; number++) {
        struct row row;
        int32_t place[3], own = assembly->order->node[number];
        look_around(assembly, number, place, &row);
        for (int k = 0; k < 3; k++)
            parts[k]->start[number + 1] = 0;
        for (int direction = 0; direction < DIRECTIONS; direction++)
            if (direction != CENTRE && row.node[direction] >= 0)
                part_of(matrix, assembly, own, row.node[direction])->start[number + 1]++;
    }
    for (int k = 0; k < 3; k++)
        for (int32_t number = 0; number < matrix->rows; number++)
            parts[k]->start[number + 1] += parts[k]->start[number];
    matrix->blocks_inside = matrix->lower.start[matrix->rows] + matrix->upper.start[matrix->rows];
    matrix->blocks_outside = matrix->outer.start[matrix->rows];
}

static void fill(struct matrix *matrix, const struct assembly *assembly, bool first_touch)
{
    const struct order *order = assembly->order;
    if (!first_touch) {
        for (int32_t number = 0; number < matrix->rows; number++)
            fill_row(matrix, assembly, number);
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(order->threads)
    for (int thread = 0; thread < order->threads; thread++)
        for (int colour = 0; colour < order->colours; colour++)
            for (int32_t i = order->first[colour * order->threads + thread];
                 i < order->last[colour * order->threads + thread]; i++)
                fill_row(matrix, assembly, i);
}

bool matrix_create(struct matrix *matrix, const struct mesh *mesh, const struct order *order,
                   const struct material *material, bool first_touch)
{
    struct assembly assembly = {.mesh = mesh, .order = order};
    struct part *parts[] = {&matrix->lower, &matrix->upper, &matrix->outer};
    const size_t rows = (size_t)mesh->owned, blocks = rows * BLOCK * sizeof(double);
    *matrix = (struct matrix){.rows = mesh->owned};
    bool good = true;
    for (int k = 0; k < 3; k++) {
        parts[k]->start = pages_take((rows + 1) * sizeof *parts[k]->start);
        good = good && parts[k]->start != NULL;
    }
    matrix->diagonal = pages_take(blocks);
    matrix->inverse = pages_take(blocks);
    good = good && matrix->diagonal != NULL && matrix->inverse != NULL;
    if (good)
        count(matrix, &assembly);
    for (int k = 0; k < 3; k++)
        good = good && allocate(parts[k], matrix->rows);
    if (!good) {
        matrix_free(matrix);
        return false;
    }
    element_stiffness(material->young, material->poisson, assembly.stiffness);
    fill(matrix, &assembly, first_touch);
    return true;
}

void matrix_free(struct matrix *matrix)
{
    struct part *parts[] = {&matrix->lower, &matrix->upper, &matrix->outer};
    for (int k = 0; k < 3; k++) {
        free(parts[k]->start);
        free(parts[k]->column);
        free(parts[k]->value);
    }
    free(matrix->diagonal);
    free(matrix->inverse);
    *matrix = (struct matrix){0};
}

/* A node of the loaded side has a quarter of each adjacent face. */
void matrix_load(const struct mesh *mesh, const struct order *order, double stress, double *load)
{
    for (int32_t number = 0; number < mesh->owned; number++) {
        int32_t place[3];
        double share = 1;
        mesh_place(mesh, order->node[number], place);
        for (int d = 0; d < 2; d++) {
            int64_t at = mesh->low[d] + place[d];
            share *= 0.5 * ((at > 0) + (at + 1 < mesh->nodes[d]));
        }
        bool loaded = mesh->low[2] + place[2] + 1 == mesh->nodes[2];
        double *own = load + 3 * (int64_t)number;
        own[0] = own[1] = 0;
        own[2] = loaded && !(fixed(mesh, place) & 4) ? stress * share : 0;
    }
}
