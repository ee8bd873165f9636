/* One agreement of all ranks of a launch, before anything else is done together.
 *
 * A rank may lack the library, have another version of it, or see other variables: it would not take part in what the
 * others do, or would do something else. So ranks agree through the launcher's key-value space (keyspace.h), where none
 * of the program's own messages can be met, and with a time limit: never by a message or a collective.
 *
 * Ranks form a tree of AGREEMENT_CHILDREN at each. Everybody first says that it is there; waits, with a limit, until its
 * parent and its children have said so; and only then, without a limit, for what they promised by that: children for
 * their record of all below them, the parent for the verdict. Who did not see its parent in time says no in its record, so
 * a parent that comes late says no to everybody. No two ranks part with different verdicts, however late some are. */
#ifndef UNISONO_AGREEMENT_H
#define UNISONO_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "keyspace.h"

enum {
    AGREEMENT_CHILDREN = 16,
    AGREEMENT_ITEMS = 24,
    AGREEMENT_NUMBERS = 8,
    AGREEMENT_HOST = 64,
};

/* Why there is none. */
enum trouble {
    TROUBLE_NONE,
    TROUBLE_SILENT,      /* `rank` did not answer in time */
    TROUBLE_IDLE,        /* `rank` has the library, and none of its variables */
    TROUBLE_DIFFERENT,   /* `rank` and `other` differ in item `item` */
    TROUBLE_DESCRIPTORS, /* `rank` has no file descriptor left */
    TROUBLE_NO_SPACE,    /* the launcher has no key-value space that we know */
};

struct complaint {
    enum trouble trouble;
    int item, rank, other;
    char host[AGREEMENT_HOST], other_host[AGREEMENT_HOST]; /* "": not known */
};

/* What a rank says; what it hears of all of them has the same form. */
struct record {
    int items;
    uint32_t item[AGREEMENT_ITEMS];   /* must be alike: agreement_hash() of each */
    int64_t least[AGREEMENT_NUMBERS]; /* the least of all ranks counts */
    struct complaint complaint;       /* the first that was found */
};

/* Collective over all `ranks` of the launch that have the library. `own` is what this rank says; *all is, if there is no
 * complaint in it, the same on all ranks, with the least of all numbers; if there is one on one rank, there is one on
 * every rank. `seconds`: how long to wait for the first sign of another rank. */
void agreement_reach(const struct keyspace *space, const struct record *own, double seconds, struct record *all);

/* Instead, by a rank that wants nothing: the others need not wait for it. */
void agreement_decline(const struct keyspace *space);

/* Whether that rank takes part, as far as can be told now. */
bool agreement_is_here(const struct keyspace *space, int rank);

/* A host's name, cut to what there is room for; and as all launchers carry it. */
void agreement_name(char host[AGREEMENT_HOST], const char *name);
void agreement_plain(char *host);

uint32_t agreement_hash(const char *text); /* NULL has one of its own */

/* Text without spaces, `=` and `;`, at most KEYSPACE_VALUE bytes with its zero; and back: false when it is none. */
void record_write(const struct record *record, char text[KEYSPACE_VALUE]);
bool record_read(struct record *record, const char *text);

#endif
