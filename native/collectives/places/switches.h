/* Behind which switches a node is, as Slurm says it: a file of switches, or a job's variables. Pure.
 *
 *     SwitchName=cell1 Nodes=n[001-180]        Slurm's topology.conf, or what `scontrol show topology` prints; a node may be
 *     SwitchName=cell2 Nodes=n[181-350,400]    %5 instead: the one with this number, in order of their lowest ranks in the world
 *     SwitchName=top Switches=cell[1-2]        switches of switches, as many as there are
 *     BlockName=b1 Nodes=m[1-18]               of topology/block
 *     taper 2                                  not Slurm's: see TAPER
 *
 * Comments begin with '#', a line ends in '\' where it goes on; other words of the form KEY=VALUE are passed over. */
#ifndef UNISONO_SWITCHES_H
#define UNISONO_SWITCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SWITCH_LEVELS = 3 };

/* What a node's adapter can carry over its share of a group's links to other groups, when all nodes of the group send. A
 * full fat tree has 1; where links between groups are fewer, or other jobs use them, it is more. No scheduler tells it, so this is
 * an assumption, for a file to correct. */
#define TAPER 2.0

/* The switches above a node from the outermost on, each with all above it, as one number; the innermost again where there are
   fewer. Inner ones beyond SWITCH_LEVELS are left out. */
struct address {
    bool known;
    uint64_t level[SWITCH_LEVELS];
};

/* Whether a text is of this kind, and not one of coordinates (coordinates.h). */
bool switches_are_in(const char *text);

/* What it says of one node; `number`: in order of the lowest ranks. Nothing is known of a node that is in no line. *taper is
 * left as it is where the text says none. On a mistake false, with a sentence in `reason`: the same for every node. */
bool switches_read(const char *text, const char *host, int number, struct address *address, double *taper, char *reason,
                   size_t room);

/* From SLURM_TOPOLOGY_ADDR and SLURM_TOPOLOGY_ADDR_PATTERN. Nothing is known unless the last name in it is this host's: a launcher
 * may have handed on the variables of another node. */
struct address switches_of_job(const char *address, const char *pattern, const char *host);

#endif
