/* Where "nodes" share one machine's processors (namespaces, containers), the kernel would now and then keep both ends of a
   pair on one of them, which takes four times as long: each is told where to sit. On machines of their own nothing is
   done. */
#ifndef UNISONO_SEAT_H
#define UNISONO_SEAT_H

#include <sched.h>
#include <stdbool.h>

struct seat {
    bool shared;
    cpu_set_t before; /* what this process could use */
    cpu_set_t all;    /* what the kernel lets it use at most */
};

void seat_begin(struct seat *seat, bool shared);

/* On the CPU number `place`, counted round. */
void seat_take(const struct seat *seat, int place);

/* Wherever the kernel likes. */
void seat_leave(const struct seat *seat);

void seat_end(const struct seat *seat);

#endif
