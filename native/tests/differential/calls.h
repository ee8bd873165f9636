/* One case of the differential test: what all ranks draw alike, and what each draws by itself. */
#ifndef UNISONO_TEST_CALLS_H
#define UNISONO_TEST_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "random.h"
#include "tally.h"

enum { NAMES = 22, WORDS_BYTES = 512 };
extern const char *const call_names[NAMES];

/* What ranks draw of a call for themselves, of which all ways have the same type signature. */
enum layouts {
    LAYOUTS_ANY,
    LAYOUTS_PLAIN,            /* no gaps, and the same on all ranks */
    LAYOUTS_OF_UNITS,         /* types of one size on all ranks, and so counts */
    LAYOUTS_OF_SEVERAL_COUNTS /* the same where the MPI library itself would fail, else any */
};

enum { HELD_MOST = 8, COMMS_OF_ALL = 4, COMMS_BESIDE = 8 };

struct trial {
    int which; /* of call_names */
    MPI_Comm comm;
    int rank, ranks;
    struct random shared; /* the same on all ranks */
    struct random own;
    int most;      /* units of a message */
    int64_t bytes; /* of a message, about; negative: as many units as are drawn */
    enum layouts layouts;
    bool own_operations; /* reductions by those of the program alone */
    bool large;          /* calls with large counts, where MPI has them */
    bool later;          /* by its nonblocking form: later.h */
    bool by_library;     /* by its nonblocking form, of which nothing of ours serves the communicator */
    bool persistent;     /* by that which is started */
    MPI_Request request;
    struct {
        void *memory;
        size_t bytes;
    } held[HELD_MOST]; /* what the call under test reads and writes */
    int helds;
    int turn;                        /* of a root that changes from call to call */
    struct trial *outer;             /* a call that is under way on this communicator, or a parent of it, meanwhile */
    bool is_over;                    /* it was waited for beside another one */
    bool (*between)(struct trial *); /* what is done while it is under way; false: that was wrong */
    int depth;                       /* how many are under way */
    uint64_t key;                    /* of what is drawn for them */
    bool is_wrong;                   /* what was done meanwhile */
    bool misaligned;                 /* a buffer of this rank was */
    struct tally *tally;
    /* COMMS_BESIDE, of which the first COMMS_OF_ALL have all ranks of the world; NULL: none are known. */
    const MPI_Comm *comms;
    int (*use)(MPI_Comm, const char *, const char *);       /* unisono_use; NULL: nothing is forced */
    int (*applies)(MPI_Comm, const char *, long long, int); /* unisono_applies */
    char words[WORDS_BYTES];                                /* what was drawn, for people; of this rank */
};

/* Makes the call through the symbols under test, and the same by the library underneath: by its messages, or its own
 * reductions. Whether the memory after both is the same. */
/* Collective: a communicator of the same ranks with a random topology, where the call wants one; else MPI_COMM_NULL. */
MPI_Comm trial_topology(struct trial *trial);
bool trial_run(struct trial *trial);

#endif
