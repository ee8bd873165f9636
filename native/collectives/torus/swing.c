#include "swing.h"

static int log_of(int extent)
{
    int log = 0;
    while (1 << log < extent)
        log++;
    return log;
}

bool swing_applies(const struct torus *torus)
{
    for (int d = 0; d < torus->dimensions; d++)
        if (1 << log_of(torus->extent[d]) != torus->extent[d])
            return false;
    return torus->dimensions > 0;
}

int swing_steps(const struct torus *torus)
{
    int steps = 0;
    for (int d = 0; d < torus->dimensions; d++)
        steps += log_of(torus->extent[d]);
    return steps;
}

int swing_ways(const struct torus *torus)
{
    return 2 * torus->dimensions;
}

/* The dimension whose turn it is, and how often it has been before: they take turns, those that are done are left out. */
static int turn(const struct torus *torus, int way, int step, int *before)
{
    int dimensions = torus->dimensions, done[TORUS_MOST] = {0}, d = way % dimensions;
    for (;; d = (d + 1) % dimensions) {
        if (done[d] == log_of(torus->extent[d]))
            continue;
        if (step-- == 0)
            break;
        done[d]++;
    }
    *before = done[d];
    return d;
}

int swing_peer(const struct torus *torus, int way, int step, int place)
{
    int at[TORUS_MOST], before, d = turn(torus, way, step, &before), extent = torus->extent[d];
    int rho = (1 + (before % 2 == 0 ? 2 : -2) * (1 << before)) / 3;
    torus_at(torus, place, at);
    bool up = (at[d] % 2 == 0) == (way < torus->dimensions);
    at[d] = ((at[d] + (up ? rho : -rho)) % extent + extent) % extent;
    return torus_place(torus, at);
}

/* The lowest of the places that are reached from `place` with the steps from this one on. They all keep one part of the
   vector until this step: the group is the same whichever of them is asked. */
static int lowest(const struct torus *torus, int way, int step, int place)
{
    if (step == swing_steps(torus))
        return place;
    int here = lowest(torus, way, step + 1, place);
    int there = lowest(torus, way, step + 1, swing_peer(torus, way, step, place));
    return here < there ? here : there;
}

int swing_part(const struct torus *torus, int way, int place)
{
    int part = 0, steps = swing_steps(torus);
    for (int step = 0; step < steps; step++) {
        int mine = lowest(torus, way, step + 1, place);
        int other = lowest(torus, way, step + 1, swing_peer(torus, way, step, place));
        part = 2 * part + (other < mine);
    }
    return part;
}
