/* Stands for the header of Fujitsu's MPI on Fugaku, as far as it is used; the constant's value there is another. */
#ifndef UNISONO_TEST_MPI_EXT_H
#define UNISONO_TEST_MPI_EXT_H

enum { FJMPI_LOGICAL = 4711 };

#endif
