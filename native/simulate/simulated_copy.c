#include "simulated_copy.h"

#include <simgrid/actor.h>
#include <smpi/smpi.h>
#include <stdlib.h>

#undef memcpy
#include <string.h>

/* The same for all ranks, which share these variables. */
static double seconds_a_byte;
static bool with_data = true;
/* By the simulator's number of a rank. */
static double *owed;
static long owing;

/* Pieces up to this are always copied: they may be what an algorithm keeps its books in. And what the shortest copy is
 * charged as. */
enum { SMALL = 512, LEAST = 16 };
/* Seconds that are worth an event of the simulator's. */
static const double worth = 0.2e-6;
/* Of the platforms' processors (platforms.py): smpi_execute() would count by smpi/host-speed, another machine's. */
static const double flops_a_second = 1e9;

void simulated_copy_set(double rate, bool data)
{
    seconds_a_byte = rate > 0 ? 1 / rate : 0;
    with_data = data;
}

static double *own(void)
{
    long number = (long)sg_actor_self_get_pid();
    if (number >= owing) {
        long more = 2 * number + 64;
        double *larger = realloc(owed, (size_t)more * sizeof *owed);
        if (larger == NULL)
            abort();
        memset(larger + owing, 0, (size_t)(more - owing) * sizeof *larger);
        owed = larger, owing = more;
    }
    return &owed[number];
}

void simulated_copy_spend(double seconds)
{
    smpi_execute_flops(seconds * flops_a_second);
}

double simulated_copy_owed(void)
{
    double *mine = own(), seconds = *mine;
    *mine = 0;
    return seconds;
}

static void charge(double bytes)
{
    double *mine = own();
    *mine += (bytes < LEAST ? LEAST : bytes) * seconds_a_byte;
    if (*mine >= worth)
        simulated_copy_spend(simulated_copy_owed());
}

/* All of the collectives' sources call this for memcpy: build.py defines the name. */
void *unisono_copy(void *to, const void *from, size_t bytes)
{
    if (with_data || bytes <= SMALL)
        memmove(to, from, bytes);
    if (bytes > 0)
        charge((double)bytes);
    return to;
}

void simulated_copy_combine(const struct reduction *reduction, const void *left, const void *right, void *result,
                            int64_t count)
{
    (void)left, (void)right, (void)result;
    if (count > 0)
        charge(1.5 * (double)(count * reduction->element));
}

void *simulated_copy_room(size_t bytes)
{
    return with_data ? malloc(bytes) : SMPI_SHARED_MALLOC(bytes);
}

void simulated_copy_free(void *room)
{
    if (with_data)
        free(room);
    else
        SMPI_SHARED_FREE(room);
}
