/* A cube of hexahedra cut into boxes of nodes, one a process; every process makes its own box and never sees more.
 *
 * Owned nodes are numbered from 0, x fastest; after them come the external nodes: those of the up to 26 neighbouring
 * boxes that share an element with an owned one, neighbour by neighbour in order of the direction, x fastest within
 * each. */
#ifndef UNISONO_SOLVER_MESH_H
#define UNISONO_SOLVER_MESH_H

#include <stdbool.h>
#include <stdint.h>

enum { DIRECTIONS = 27, CENTRE = 13 };

struct neighbour {
    int rank;
    int32_t first, count; /* its external nodes here */
    int32_t sent_first;   /* where the nodes it needs of us begin in mesh.sent */
    int32_t sent_count;
};

struct mesh {
    int64_t nodes[3]; /* of the whole cube */
    int parts[3];
    int64_t low[3];  /* the first owned node */
    int32_t size[3]; /* owned nodes */
    int32_t owned, total;
    int neighbours;
    struct neighbour neighbour[DIRECTIONS];
    int32_t *sent;                                      /* owned nodes, neighbour by neighbour */
    int32_t base[DIRECTIONS];                           /* first node of the region in this direction; -1: none */
    int32_t from[DIRECTIONS][3], extent[DIRECTIONS][3]; /* the region: relative to `low`, and how large */
};

/* As near to cubes as the number of processes allows: parts[0] * parts[1] * parts[2] == ranks, the surface smallest.
 * False if there is no way that gives every process a node. */
bool mesh_divide(const int64_t nodes[3], int ranks, int parts[3]);

/* The box of `rank` (x fastest). False: no memory, or more nodes than 32 bits can number. */
bool mesh_create(struct mesh *mesh, const int64_t nodes[3], const int parts[3], int rank);
void mesh_free(struct mesh *mesh);

/* The local number of the node at this place relative to `low`, -1 .. size; -1: outside the cube. */
int32_t mesh_node(const struct mesh *mesh, int32_t x, int32_t y, int32_t z);

/* The place of an owned node. */
static inline void mesh_place(const struct mesh *mesh, int32_t node, int32_t place[3])
{
    place[0] = node % mesh->size[0];
    place[1] = node / mesh->size[0] % mesh->size[1];
    place[2] = node / mesh->size[0] / mesh->size[1];
}

/* Owned neighbours of an owned node (at most 26), ascending; how many. */
int mesh_adjacent(const struct mesh *mesh, int32_t node, int32_t adjacent[26]);

#endif
