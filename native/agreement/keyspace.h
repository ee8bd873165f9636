/* The launcher's key-value space, in which ranks tell one another something before they may send messages. */
#ifndef UNISONO_KEYSPACE_H
#define UNISONO_KEYSPACE_H

#include <stdbool.h>
#include <stddef.h>

enum { KEYSPACE_VALUE = 704 };

struct keyspace {
    int rank, ranks;
    int round;        /* a part of every key, so that a later agreement does not find what an earlier one said */
    const char *host; /* this rank's */
    /* This rank's value of a key, for the others; once. False: the launcher did not take it. */
    bool (*put)(const struct keyspace *space, int key, const char *value);
    /* Another rank's, if it is there already. */
    bool (*get)(const struct keyspace *space, int rank, int key, char value[KEYSPACE_VALUE]);
    /* The host of a rank that said nothing, or which one of the launch it is; "": the launcher does not tell. */
    void (*host_of)(const struct keyspace *space, int rank, char *host, size_t bytes);
    bool dear; /* whether every question costs the launcher a connection between nodes */
    void *own; /* of the space's */
};

/* The one of this process's launcher; NULL: none that we know. Call keyspace_close() in the end. */
struct keyspace *keyspace_open(int rank, int ranks, int round, const char *host);
void keyspace_close(struct keyspace *space);

/* By kind: NULL where this process was not started with it, as that rank of so many. */
struct keyspace *keyspace_pmix(int rank, int ranks);
struct keyspace *keyspace_pmi(int rank, int ranks);

/* Waits until all ranks have called it, by PMI 1, which no message of MPI takes part in; `meanwhile` is called until then,
 * some thousand times a second (NULL: nothing is). Collective over MPI_COMM_WORLD, and takes no memory, so that no rank can
 * stay away for the want of any. False: this launcher does not speak it, or has ended. */
bool keyspace_pmi_fence(void (*meanwhile)(void));

#endif
