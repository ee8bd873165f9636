/* Stretches of calls in which nothing is forced and nothing is forgotten: rules and costs say what serves, and what served the call
 * before is remembered with its communicator. So calls repeat, and go to and fro between a few collectives, communicators,
 * sizes and shapes (a shape: types, root, in place ...), whose bytes are often the same. */
#ifndef UNISONO_TEST_UNFORCED_H
#define UNISONO_TEST_UNFORCED_H

#include "calls.h"

enum { STRETCH = 32, COMMS = 3, CHOICES = 5 };

/* Which of each is next; of all but the communicator, of what the stretch has drawn. */
struct pick {
    int comm, which, size, shape;
};

struct stretch {
    bool begun;
    bool is_long; /* messages of which copies are too long to be made at once */
    bool own_operations;
    bool turns; /* the root goes on with every call */
    bool flies; /* many calls do not block, and others are made meanwhile */
    int calls;
    int comms, whichs, sizes, shapes; /* how many there are of each */
    MPI_Comm comm[COMMS], parent[COMMS];
    bool own[COMMS], is_world[COMMS]; /* own: made for this stretch, and again at times */
    int which[CHOICES];
    int64_t bytes[CHOICES];
    uint64_t shape[CHOICES];
    MPI_Comm topology[COMMS][CHOICES]; /* for a collective of neighbours; MPI_COMM_NULL: not made yet */
    struct pick last;
    unsigned long long asked[CHOICES][CHOICES]; /* calls on the world, by collective and size */
};

/* Collective over MPI_COMM_WORLD: the stretch of this number. `shapes`: communicators that last longer, the first being the world's or of all its ranks; `only`: the
 * one collective; negative: any. */
void unforced_begin(struct stretch *stretch, uint64_t number, struct random *shared, int only, const MPI_Comm *shapes,
                    int count, struct tally *tally);
/* The next call: its communicator (MPI_COMM_NULL where this rank is not in it), collective, bytes, layouts, and what all ranks draw of
 * it, for which `trial->shared` is to begin anew with `*shape`. */
void unforced_draw(struct stretch *stretch, struct trial *trial, struct random *shape);
/* Collective over MPI_COMM_WORLD. */
void unforced_end(struct stretch *stretch, struct trial *trial);

#endif
