/* The stiffness of one cubic element of side 1: 8 nodes, linear shape functions, isotropic linear elasticity. */
#ifndef UNISONO_SOLVER_ELEMENT_H
#define UNISONO_SOLVER_ELEMENT_H

/* Node k of an element is at x = k & 1, y = k >> 1 & 1, z = k >> 2. `young`: modulus, `poisson`: ratio, below 1/2. */
void element_stiffness(double young, double poisson, double stiffness[8][8][3][3]);

#endif
