/* Call-scope settings: each is a copy of MPI_COMM_WORLD made while its variables were set, with a preferred component,
 * with implementations of libunisono, or with variables that hold while it runs. */
#ifndef UNISONO_SETTINGS_H
#define UNISONO_SETTINGS_H

#include <mpi.h>
#include <stdbool.h>

#include "command.h"
#include "team.h"

/* Far below the 2^16 context ids of common libraries, of which components take several for one communicator. */
enum { SETTINGS_MAX = 1024 };

struct settings {
    MPI_Comm comms[SETTINGS_MAX];
    char *uses[SETTINGS_MAX];  /* COLLECTIVE:IMPLEMENTATION,... of libunisono; NULL: none */
    char *holds[SETTINGS_MAX]; /* NAME=VALUE ... that hold while it runs, see held.h; NULL: none */
    bool mpi_t;
};

/* Setting 0 is the default: a plain copy. */
void settings_begin(struct settings *settings);

/* `define`: collective over the team; false on all ranks, with the sentence on rank 0. A setting defined before is
   replaced. */
bool settings_define(struct settings *settings, struct team *team, struct command *command, struct problem *problem);

bool settings_known(const struct settings *settings, int id, struct problem *problem);
void settings_end(struct settings *settings);

#endif
