#include "copy_speed.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "memory.h"

/* Every way has its turn, and again as long as the time lasts: long copies differ less from run to run. */
enum { RUNS = 24, LEAST_RUNS = 6, SMALLEST = 4096 };
static const int64_t lasts = 30000000; /* ns */

/* How a byte gets from one rank's memory into another's with one copy. None is the fastest everywhere: a reader waits
 * for lines that another core has written, a writer takes lines away from it. Each with memcpy, then with the
 * processor's own move where there is one, which is what kernels copy with. */
enum way { PULLED, PUSHED, HALF_EACH, WAYS };

static size_t data_bytes(size_t most)
{
    return page_round(most > COPY_LEAST ? most : COPY_LEAST);
}

static bool all_of(MPI_Comm node, bool mine)
{
    int good = mine, all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, node);
    return all;
}

bool copy_speed_create(struct copy_speed *copies, MPI_Comm node, size_t most)
{
    *copies = (struct copy_speed){.head = page_round(sizeof(struct flag_rank)), .most = most};
    MPI_Comm_rank(node, &copies->flags.rank);
    MPI_Comm_size(node, &copies->flags.count);
    size_t room = (size_t)memory_available() / 4 / (size_t)copies->flags.count;
    for (;; copies->most /= 4) {
        struct problem problem = {""};
        size_t data = data_bytes(copies->most);
        copies->each = copies->head + data;
        if (copies->most < SMALLEST)
            return false;
        if (!all_of(node, data <= room) || !segment_create(&copies->segment, node, 0, copies->each, &problem))
            continue;
        copies->private_copy = malloc(data);
        if (all_of(node, copies->private_copy != NULL))
            break;
        copy_speed_free(copies);
    }
    memset(copies->private_copy, 0, data_bytes(copies->most));
    copies->flags.ranks = malloc((size_t)copies->flags.count * sizeof *copies->flags.ranks);
    if (!all_of(node, copies->flags.ranks != NULL)) {
        copy_speed_free(copies);
        return false;
    }
    for (int rank = 0; rank < copies->flags.count; rank++)
        copies->flags.ranks[rank] = (struct flag_rank *)((char *)copies->segment.base + (size_t)rank * copies->each);
    return true;
}

void copy_speed_free(struct copy_speed *copies)
{
    segment_free(&copies->segment);
    free(copies->flags.ranks);
    free(copies->private_copy);
    copies->flags.ranks = NULL;
    copies->private_copy = NULL;
}

static char *data_of(const struct copy_speed *copies, int rank)
{
    return (char *)copies->flags.ranks[rank] + copies->head;
}

char *copy_speed_own(const struct copy_speed *copies)
{
    return data_of(copies, copies->flags.rank);
}

static void move(char *to, const char *from, size_t bytes)
{
#ifdef __x86_64__
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
    memcpy(to, from, bytes);
#endif
}

static void copy(char *to, const char *from, size_t bytes, size_t total, bool moves)
{
    for (size_t start = 0; start + bytes <= total; start += bytes) {
        if (moves)
            move(to + start, from + start, bytes);
        else
            memcpy(to + start, from + start, bytes);
    }
}

static void copy_timed(struct copy_speed *copies, int run, size_t bytes, size_t total, bool own)
{
    enum way way = own ? PULLED : (enum way)(run % WAYS);
    bool moves = run / WAYS % 2 == 1;
    struct flag_rank *mine = copies->flags.ranks[copies->flags.rank];
    char *other = data_of(copies, (copies->flags.rank + !own) % copies->flags.count);
    size_t pulled = way == PULLED ? total : way == PUSHED ? 0 : total / 2;
    if (bytes > total / 2)
        bytes = way == HALF_EACH ? total / 2 : bytes;
    mine->begin = clock_now();
    copy(copies->private_copy, other, bytes, pulled, moves);
    copy(other + pulled, copies->private_copy + pulled, bytes, total - pulled, moves);
    mine->end = clock_now();
}

/* GB/s of a run whose times all ranks have written. */
static double rate_of(const struct flags *flags, int copying, size_t bytes)
{
    int64_t begin = INT64_MAX, end = 0;
    for (int rank = 0; rank < copying; rank++) {
        begin = flags->ranks[rank]->begin < begin ? flags->ranks[rank]->begin : begin;
        end = flags->ranks[rank]->end > end ? flags->ranks[rank]->end : end;
    }
    return (double)bytes * copying / (double)(end - begin);
}

double copy_speed_bandwidth(struct copy_speed *copies, size_t bytes, enum copiers copiers)
{
    struct flags *flags = &copies->flags;
    struct flag_rank *mine = flags->ranks[flags->rank];
    size_t total = bytes > COPY_LEAST ? bytes : COPY_LEAST / bytes * bytes;
    int copying = copiers == COPIES_ONE ? 1 : flags->count;
    const int64_t start = clock_now();
    double best = 0;
    copies->measured++;
    for (int run = 1; flags->ranks[0]->finished < copies->measured; run++) {
        memset(data_of(copies, flags->rank), run, total);
        memset(copies->private_copy, run, total);
        flags_disseminate(flags);
        if (flags->rank < copying)
            copy_timed(copies, run, bytes, total, copiers == COPIES_OWN);
        if (flags->rank == 0 && (run == RUNS || (run >= LEAST_RUNS && clock_now() - start > lasts)))
            mine->finished = copies->measured;
        flags_disseminate(flags);
        const double rate = flags->rank == 0 ? rate_of(flags, copying, total) : 0;
        best = rate > best ? rate : best;
    }
    return best;
}
