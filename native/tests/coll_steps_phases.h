/* What the ranks of a node do in each phase of collectives/node, as test_coll_steps explores it: the actions of one rank in
 * the order of the code. */
#ifndef UNISONO_COLL_STEPS_PHASES_H
#define UNISONO_COLL_STEPS_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"

enum { RANKS = 3, ACTIONS = 96, TRADERS = 2, PLACES = 2 };

enum kind {
    ROOM,  /* *_room: all ranks have passed step - ring + 1, by what is known or by looking */
    WRITE, /* the place of a step is being written */
    POST,  /* line_post */
    AWAIT, /* line_wait */
    READ,  /* what `peer` posted in the step is read; it must still be there */
    DONE,  /* the end of that reading */
    KNOW,  /* node_know */
    PASS,  /* node_pass */
    PUT, /* the place in some rank's memory (trade.h) is being written: memory `peer` / PLACES, place `peer` % PLACES */
    GET, /* what was put there in the step is read; it must still be there */
    GOT  /* the end of that reading */
};

struct action {
    enum kind kind;
    uint8_t peer, step;
};

/* What one rank does; `steps` as node->step. */
struct program {
    struct action actions[ACTIONS];
    int count;
};

struct system {
    int ranks, ring;
    struct program programs[RANKS];
    int steps;
    int trades[PLACES];                                                /* pieces that went through each place */
    bool no_room, early_pass, late_know, early_post, two_ahead, stays; /* the faults on purpose */
};

static void add(struct program *program, enum kind kind, int peer, int step)
{
    if (program->count < ACTIONS)
        program->actions[program->count++] = (struct action){kind, (uint8_t)peer, (uint8_t)step};
    else
        CHECK(!"a program is too long for the test");
}

static void post(const struct system *system, struct program *program, int step)
{
    if (!system->no_room)
        add(program, ROOM, 0, step);
    if (system->early_post)
        add(program, POST, 0, step);
    add(program, WRITE, 0, step);
    add(program, POST, 0, step);
}

static void take(struct program *program, int peer, int step)
{
    add(program, AWAIT, peer, step);
    add(program, READ, peer, step);
    add(program, DONE, peer, step);
}

/* bcast_inline, bcast_cells: one way from the root. */
static void one_way(struct system *system, int root)
{
    int step = system->steps++;
    for (int rank = 0; rank < system->ranks; rank++) {
        struct program *program = &system->programs[rank];
        if (system->early_pass)
            add(program, PASS, 0, step + 1);
        if (rank == root)
            post(system, program, step);
        else
            take(program, root, step);
        add(program, PASS, 0, step + 1);
    }
}

/* reduce_cells: from all to the root. */
static void to_root(struct system *system, int root)
{
    int step = system->steps++;
    for (int rank = 0; rank < system->ranks; rank++) {
        struct program *program = &system->programs[rank];
        if (rank != root)
            post(system, program, step);
        for (int peer = 0; rank == root && peer < system->ranks; peer++)
            if (peer != root)
                take(program, peer, step);
        add(program, PASS, 0, step + 1);
    }
}

/* allreduce_inline, barrier_flags: everybody reads everybody's. */
static void all_read(struct system *system)
{
    int step = system->steps++;
    for (int rank = 0; rank < system->ranks; rank++) {
        struct program *program = &system->programs[rank];
        post(system, program, step);
        for (int peer = 0; peer < system->ranks; peer++)
            if (peer != rank)
                take(program, peer, step);
        add(program, KNOW, 0, step + (system->late_know ? 2 : 0));
        add(program, PASS, 0, step + 1);
    }
}

/* allgather_cells, allreduce_cells: the next piece is posted before the others' are read. */
static void all_read_ahead(struct system *system, int pieces)
{
    int first = system->steps;
    system->steps += pieces;
    for (int rank = 0; rank < system->ranks; rank++) {
        struct program *program = &system->programs[rank];
        post(system, program, first);
        for (int step = first; step < first + pieces; step++) {
            if (step + 1 < first + pieces)
                post(system, program, step + 1);
            for (int peer = 0; peer < system->ranks; peer++)
                if (peer != rank)
                    take(program, peer, step);
            add(program, PASS, 0, step + 1);
        }
    }
}

/* allreduce_groups: ranks 0 and 1 to rank 0, 2 alone, then all from 0 and 2. */
static void groups(struct system *system)
{
    int step = system->steps;
    system->steps += 2;
    for (int rank = 0; rank < system->ranks; rank++) {
        struct program *program = &system->programs[rank];
        post(system, program, step);
        if (rank == 0)
            take(program, 1, step);
        if (rank % 2 == 0)
            post(system, program, step + 1);
        for (int leader = 0; leader < system->ranks; leader += 2)
            if (leader != rank)
                take(program, leader, step + 1);
        add(program, KNOW, 0, step);
        add(program, PASS, 0, step + 2);
    }
}

/* node_slices: three chunks under way at a time. */
static void slices(struct system *system, int chunks)
{
    int first = system->steps;
    system->steps += 2 * chunks;
    for (int rank = 0; rank < system->ranks; rank++) {
        struct program *program = &system->programs[rank];
        for (int chunk = 0; chunk < chunks + 2; chunk++) {
            int combined = first + 2 * (chunk - 1), collected = first + 2 * (chunk - 2) + 1;
            if (chunk < chunks)
                post(system, program, first + 2 * chunk);
            for (int peer = 0; chunk > 0 && chunk <= chunks && peer < system->ranks; peer++)
                if (peer != rank)
                    take(program, peer, combined);
            if (chunk > 0 && chunk <= chunks)
                post(system, program, combined + 1);
            for (int i = 1; chunk > 1 && i < system->ranks; i++)
                take(program, (rank + i) % system->ranks, collected);
            if (chunk > 1)
                add(program, PASS, 0, collected + 1);
        }
    }
}

/* In whose memory, and which place of it, a rank writes a piece. */
static int traded_at(const struct system *system, int rank, int piece)
{
    const int place = piece % PLACES, turn = system->trades[place] + piece / PLACES;
    return (system->stays ? rank : rank ^ (turn & 1)) * PLACES + place;
}

static void put(const struct system *system, struct program *program, int rank, int first, int piece)
{
    add(program, ROOM, 0, first + piece);
    add(program, PUT, traded_at(system, rank, piece), first + piece);
    add(program, POST, 0, first + piece);
}

/* node_trade: two ranks, each writes where it has just read. */
static void trade(struct system *system, int pieces)
{
    const int first = system->steps, ahead = system->two_ahead ? 2 : 1;
    system->steps += pieces;
    for (int rank = 0; rank < system->ranks; rank++) {
        struct program *program = &system->programs[rank];
        for (int piece = 0; piece < ahead && piece < pieces; piece++)
            put(system, program, rank, first, piece);
        for (int piece = 0; piece < pieces; piece++) {
            if (piece + ahead < pieces)
                put(system, program, rank, first, piece + ahead);
            add(program, AWAIT, 1 - rank, first + piece);
            add(program, KNOW, 0, first + piece - (piece > 0));
            add(program, GET, traded_at(system, 1 - rank, piece), first + piece);
            add(program, GOT, traded_at(system, 1 - rank, piece), first + piece);
            add(program, PASS, 0, first + piece + 1);
        }
    }
    for (int place = 0; place < PLACES; place++)
        system->trades[place] += (pieces + PLACES - 1 - place) / PLACES;
}

#endif
