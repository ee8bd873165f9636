/* The words for what can serve a call of a collective:
 *
 *     mpi                              the MPI library, untouched
 *     unisono/ALGORITHM[:SEGMENT]      ours, named without the collective: unisono/pull, unisono/pipeline:16384
 *     tuned/ALGORITHM[:SEGMENT]        Open MPI's coll/tuned, made to take that algorithm
 *     libnbc/ALGORITHM                 Open MPI's coll/libnbc, made to take that algorithm; of nonblocking collectives (libnbc.h)
 *     COMPONENT                        a component of Open MPI: han, sm, adapt ...
 *
 * A segment is bytes. Each (collective, word) is one object for the whole run. */
#ifndef UNISONO_IMPLEMENTATION_H
#define UNISONO_IMPLEMENTATION_H

#include <stdint.h>

#include "collectives.h"
#include "problem.h"

enum { IMPLEMENTATIONS_MOST = 1024, WORD_BYTES = 64, SIZE_BINS = 65 };

enum implementation_kind { BY_MPI, BY_OURS, BY_TUNED, BY_LIBNBC, BY_COMPONENT };

/* Calls it served of one power of two of message sizes. */
struct served {
    uint64_t calls;
    int64_t least, most; /* bytes */
};

struct implementation {
    char word[WORD_BYTES];
    enum collective collective;
    enum implementation_kind kind;
    char name[WORD_BYTES];             /* of the algorithm, or of the component */
    const struct algorithm *algorithm; /* BY_OURS */
    int64_t segment;                   /* 0: not said */
    int number;            /* BY_LIBNBC: as its variable takes it; 0: it is not there, or not on all ranks */
    struct served *served; /* SIZE_BINS of them; NULL until it has served while somebody wants to know */
};

/* What the word (of `length` bytes) means for this collective; NULL, with the sentence, when it means nothing. */
const struct implementation *implementation_find(enum collective collective, const char *word, size_t length,
                                                 struct problem *problem);

/* The same word for another collective, which it is known to serve alike: an algorithm of coll/libnbc keeps its number. Where there is no
 * room for one more, it is `one`. */
const struct implementation *implementation_as(const struct implementation *one, enum collective collective);

/* The same for `mpi`. */
const struct implementation *implementation_mpi(enum collective collective);

/* By number, in the order in which they were found; NULL at the end. */
struct implementation *implementation_at(int index);

#endif
