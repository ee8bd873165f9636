/* The stiffness matrix of the nodes a process owns: 3x3 blocks, compressed rows, in the numbers of the ordering.
 *
 * A row's blocks lie in three parts: what comes earlier in the sweep (lower), what comes later (upper), and external
 * nodes (outer), which only the product with a vector reads. Values are stored once. */
#ifndef UNISONO_SOLVER_MATRIX_H
#define UNISONO_SOLVER_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "mesh.h"
#include "order.h"

enum { BLOCK = 9 };

struct part {
    int64_t *start; /* rows + 1 */
    int32_t *column;
    double *value; /* BLOCK for each column, row by row */
};

struct matrix {
    int32_t rows;
    struct part lower, upper, outer;
    double *diagonal; /* BLOCK a row */
    double *inverse;  /* of the diagonal's; column after column within a block */
    int64_t blocks_inside, blocks_outside;
};

struct material {
    double young, poisson;
};

/* Bytes of a matrix with so many rows and all 26 neighbours; what memory has to hold at the most. */
int64_t matrix_bytes(const struct mesh *mesh);

/* Boundary conditions: u_x = 0 at the lowest x, u_y = 0 at the lowest y, u_z = 0 at the lowest z; rows and columns
 * of these unknowns are the identity's, times the diagonal. `first_touch`: each thread fills, and so places, its own
 * rows. False: no memory. */
bool matrix_create(struct matrix *matrix, const struct mesh *mesh, const struct order *order,
                   const struct material *material, bool first_touch);
void matrix_free(struct matrix *matrix);

/* The load of a uniform stress in z at the highest z, 3 a row; zeros where a displacement is given. */
void matrix_load(const struct mesh *mesh, const struct order *order, double stress, double *load);

#endif
