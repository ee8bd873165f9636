#include "copies.h"

#include <smpi/smpi.h>
#include <stdlib.h>

#undef memcpy
#include <string.h>

/* The same for all ranks, which share these variables. */
static double seconds_a_byte, owed;
static bool with_data = true;

/* Pieces up to this are always copied: they may be what an algorithm keeps its books in. */
enum { SMALL = 512 };
/* Seconds that are worth an event of the simulator's. */
static const double worth = 0.5e-6;

void copies_set(double rate, bool data)
{
    seconds_a_byte = rate > 0 ? 1 / rate : 0;
    with_data = data;
}

static void charge(double seconds)
{
    owed += seconds;
    if (owed < worth)
        return;
    double now = owed;
    owed = 0;
    smpi_execute(now);
}

/* All of the collectives' sources call this for memcpy: build.py defines the name. */
void *unisono_copy(void *to, const void *from, size_t bytes)
{
    if (with_data || bytes <= SMALL)
        memmove(to, from, bytes);
    charge((double)bytes * seconds_a_byte);
    return to;
}

void copies_combine(const struct reduction *reduction, const void *left, const void *right, void *result, int64_t count)
{
    (void)left, (void)right, (void)result;
    charge(1.5 * (double)(count * reduction->element) * seconds_a_byte);
}

void *copies_room(size_t bytes)
{
    return with_data ? malloc(bytes) : SMPI_SHARED_MALLOC(bytes);
}

void copies_free(void *room)
{
    if (with_data)
        free(room);
    else
        SMPI_SHARED_FREE(room);
}
