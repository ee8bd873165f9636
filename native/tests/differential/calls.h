/* One case of the differential test: what all ranks draw alike, and what each draws by itself. */
#ifndef UNISONO_TEST_CALLS_H
#define UNISONO_TEST_CALLS_H

#include <mpi.h>
#include <stdbool.h>

#include "random.h"

enum { NAMES = 8, WORDS_BYTES = 512 };
extern const char *const call_names[NAMES];

struct trial {
    int which;              /* of call_names */
    MPI_Comm comm;
    int rank, ranks;
    struct random shared;   /* the same on all ranks */
    struct random own;
    int most;               /* units of a message */
    char words[WORDS_BYTES]; /* what was drawn, for people; of this rank */
};

/* Makes the call through the symbols under test and through the library underneath; whether the memory after both is the
 * same. Both must return the same error code. */
bool trial_run(struct trial *trial);

#endif
