/* Coordinates that the MPI library itself tells, where it is one of a torus machine:
 *
 *   Fujitsu's of K, FX10, FX100   FJMPI_Topology_get_dimension, _get_shape, _rank2x, _rank2xy, _rank2xyz
 *   Fujitsu's of Fugaku, FX1000   the first two, and FJMPI_Topology_get_coords with FJMPI_LOGICAL, whose value its
 *                                 mpi-ext.h knows (RIKEN's user's guide of Fugaku, 6.10 "Rank inquiry functions": every
 *                                 rank has coordinates on a torus of one to three dimensions)
 *   IBM's of Blue Gene/Q          MPIX_Torus_ndims, MPIX_Rank2torus (mpix.h). Which dimensions wrap is said only in a
 *                                 structure whose layout is not the same in all versions: they are taken for meshes, as
 *                                 large as the largest coordinates
 *
 * They are looked for by name at run time; tried with stand-ins only, never on such a machine. */
#ifndef UNISONO_INQUIRY_H
#define UNISONO_INQUIRY_H

#include "torus/torus.h"

/* Collective over MPI_COMM_WORLD. *place: of this rank, -1 if it is not told. machine->dimensions stays 0 where no such
 * library is, or where it answers with an error on one rank. *teller: which, for people. MPI error codes. */
int inquiry_start(struct torus *machine, int *place, const char **teller);

#endif
