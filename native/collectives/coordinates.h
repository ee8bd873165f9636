/* Where the nodes of the machine are: the file that UNISONO_TOPOLOGY names; without it, what the MPI library tells
 * (inquiry.h).
 *
 *     extents 8x8x6 torus        or `mesh`, or one word for each dimension: extents 8x8x6 torus torus mesh
 *     node001 0 0 0              a line a host, as MPI_Get_processor_name() has it or up to its first dot; or:
 *     names n%x-%y-%z            coordinates in the hosts' names (%x %y %z %u %v %w), or:
 *     names n%n                  a place in the name, the first coordinate varying fastest
 *
 *     grid 4x4x2 torus           instead of all that: the nodes in order of their lowest ranks in MPI_COMM_WORLD
 *
 * Comments begin with '#'. Or the file says behind which switches nodes are (switches.h); without a file, a job's variables
 * may. `UNISONO_TOPOLOGY=none`: nobody is asked. */
#ifndef UNISONO_COORDINATES_H
#define UNISONO_COORDINATES_H

#include <stdbool.h>
#include <stddef.h>

#include "places/switches.h"
#include "torus/torus.h"

/* What the file says of one host; pure. `number`: of its node, in order of the lowest ranks. *place is -1 if nothing is
 * said of it. On a mistake false, with a sentence in `reason`. */
bool coordinates_read(const char *text, const char *host, int number, struct torus *machine, int *place, char *reason,
                      size_t room);

/* What is known of the whole machine, on all ranks, and of this rank's node. */
struct whereabouts {
    struct torus machine;   /* of no dimensions where nobody tells coordinates */
    struct address address; /* of this rank's node alone */
    bool says_switches;     /* somebody told behind which switches nodes are */
    double taper;
    const char *teller; /* who told either, for people; NULL: nobody */
};

/* Collective over MPI_COMM_WORLD: rank 0 reads the file and hands it out. places[rank]: coordinates of the rank's node, the same
 * on all ranks. A file that is wrong ends the program with one line and status 2. MPI error codes. */
int coordinates_start(int number, struct whereabouts *found, int *places);

#endif
