/* Where a rank may not read or write another's memory any more, though it was permitted at the start: the other one does it,
 * piece by piece through memory that both share.
 *
 * A program may give privileges away after MPI_Init (prctl(PR_SET_DUMPABLE), setuid(), a filter of system calls), on one rank alone.
 * Who asks is the only one to know; who is asked waits in the same phase until its memory is done with (pull.h), and looks
 * while it waits whether it is asked (wait_turn). So nobody has to agree, and nothing is done anew. */
#ifndef UNISONO_NODE_HANDED_H
#define UNISONO_NODE_HANDED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct failure;

/* In each rank's part of shared memory; what is there with lines and flags still fits into a page of 4 KiB. */
enum { HANDED_BYTES = 1536 };
struct handed {
    _Alignas(128) _Atomic int64_t asked; /* of this rank by others, and not answered */
    _Atomic int state;                   /* of what this rank asks for */
    int of;                              /* local number */
    int bytes;
    bool writes;
    uint64_t at; /* in the memory of `of` */
    unsigned char data[HANDED_BYTES];
};

/* As pull_read() and pull_write(), of another rank. False: it has left, or nothing is shared. */
bool handed_read(struct failure *failure, int local, uint64_t remote, char *to, int64_t bytes);
bool handed_write(struct failure *failure, int local, uint64_t remote, const char *from, int64_t bytes);

/* Does what others ask for; by who waits. */
void handed_serve(const struct failure *failure);

#endif
