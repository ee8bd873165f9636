/* Control variables of the MPI library (MPI_T): written from text, put back afterwards. */
#ifndef UNISONO_CVARS_H
#define UNISONO_CVARS_H

#include <stdbool.h>

#include "problem.h"

enum { CVARS_MAX = 32, CVAR_TEXT = 4096 };

/* A variable that was written, and what it held before. */
struct cvar {
    int index;
    char before[CVAR_TEXT];
};

struct cvars {
    struct cvar changed[CVARS_MAX];
    int count;
};

/* Opens MPI_T; false when the library has none. */
bool cvars_open(void);
void cvars_close(void);

bool cvars_known(const char *name);

/* Writes a variable of integer, unsigned, bool, double, enumerated or string type. One that holds the value already is
 * left alone, whether it could be written or not. */
bool cvars_write(struct cvars *cvars, const char *name, const char *value, struct problem *problem);

/* Whether a variable reads back as what was written; false with what it reads instead. */
bool cvars_holds(const char *name, const char *value, struct problem *problem);

/* Puts everything back, last change first. */
bool cvars_restore(struct cvars *cvars, struct problem *problem);

#endif
