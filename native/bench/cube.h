/* Ranks as boxes of a cube, and who is around one: of the second microbenchmark of Nakajima (2009). */
#ifndef UNISONO_CUBE_H
#define UNISONO_CUBE_H

enum { CUBE_NEIGHBOURS = 26 };

/* The ranks whose boxes share a face, an edge or a corner with that of `rank` in a grid of parts[0] x parts[1] x
 * parts[2] ranks (x fastest), in the order of directions; how many: on a cube of cubes 7, 11, 17 or 26, fewer on
 * thin grids. */
int cube_neighbours(int rank, const int parts[3], int around[CUBE_NEIGHBOURS]);

#endif
