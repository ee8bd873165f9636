/* Programs of another MPI than the one that this library was built for: an int for a communicator in the one is a pointer in the
 * other, so not a single call can even be passed on. */
#ifndef UNISONO_FOREIGN_H
#define UNISONO_FOREIGN_H

/* When MPI begins, as the program may have loaded its MPI by itself: ends it with a line if that is another one. */
void foreign_refuse(void);

#endif
