/* Datatypes of messages for the differential test: a few signatures, and many ways in which ranks lay them out in memory. */
#ifndef UNISONO_TEST_LAYOUTS_H
#define UNISONO_TEST_LAYOUTS_H

#include <mpi.h>
#include <stdbool.h>

#include "random.h"

/* A way to lay out `unit` elements of a base type. Every way has the same type signature. */
struct layout_way {
    const char *name;
    MPI_Datatype type;
    int factor;  /* elements of `type` for one unit */
    int is_made; /* must be freed */
    MPI_Aint extent;
};

void layouts_start(void);
void layouts_end(void);

/* Of messages: a predefined type, or one of several parts, or of nothing. */
struct plain {
    const char *name;
    MPI_Datatype type;
};
struct plain layouts_plain(struct random *random, bool predefined);

/* Elements of a base of several parts may have these elsewhere than the base has them. */
struct layout_way layouts_draw(struct random *random, MPI_Datatype base, int unit);
/* The base one after the other. */
struct layout_way layouts_contiguous(MPI_Datatype base, int unit);
void layouts_free(struct layout_way *way);

/* What a call is told of memory. */
struct view {
    void *data;
    MPI_Datatype type;
    bool is_made; /* must be freed */
};
/* The same elements as seen from MPI_BOTTOM, by their address. */
struct view layouts_from_bottom(const struct layout_way *way, void *data);

#endif
