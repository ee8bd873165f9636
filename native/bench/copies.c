#include "copies.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "memory.h"

enum { RUNS = 20, SMALLEST = 4096 };

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

bool copies_create(struct copies *copies, MPI_Comm node, size_t most)
{
    *copies = (struct copies){.head = page_round(sizeof(struct flag_rank)), .most = most};
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
        copies_free(copies);
    }
    memset(copies->private_copy, 0, data_bytes(copies->most));
    copies->flags.ranks = malloc((size_t)copies->flags.count * sizeof *copies->flags.ranks);
    if (!all_of(node, copies->flags.ranks != NULL)) {
        copies_free(copies);
        return false;
    }
    for (int rank = 0; rank < copies->flags.count; rank++)
        copies->flags.ranks[rank] = (struct flag_rank *)((char *)copies->segment.base + (size_t)rank * copies->each);
    return true;
}

void copies_free(struct copies *copies)
{
    segment_free(&copies->segment);
    free(copies->flags.ranks);
    free(copies->private_copy);
    copies->flags.ranks = NULL;
    copies->private_copy = NULL;
}

static char *data_of(const struct copies *copies, int rank)
{
    return (char *)copies->flags.ranks[rank] + copies->head;
}

char *copies_own(const struct copies *copies)
{
    return data_of(copies, copies->flags.rank);
}

static void copy_timed(struct copies *copies, size_t bytes, size_t total)
{
    struct flag_rank *mine = copies->flags.ranks[copies->flags.rank];
    const char *from = data_of(copies, (copies->flags.rank + 1) % copies->flags.count);
    mine->begin = clock_now();
    for (size_t start = 0; start + bytes <= total; start += bytes)
        memcpy(copies->private_copy + start, from + start, bytes);
    mine->end = clock_now();
}

double copies_bandwidth(struct copies *copies, size_t bytes, bool everybody)
{
    struct flags *flags = &copies->flags;
    size_t total = bytes > COPY_LEAST ? bytes : COPY_LEAST / bytes * bytes;
    int copying = everybody ? flags->count : 1;
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        memset(data_of(copies, flags->rank), run, total);
        flags_disseminate(flags);
        if (flags->rank < copying)
            copy_timed(copies, bytes, total);
        flags_disseminate(flags);
        if (flags->rank != 0)
            continue;
        int64_t begin = INT64_MAX, end = 0;
        for (int rank = 0; rank < copying; rank++) {
            begin = flags->ranks[rank]->begin < begin ? flags->ranks[rank]->begin : begin;
            end = flags->ranks[rank]->end > end ? flags->ranks[rank]->end : end;
        }
        double rate = (double)total * copying / (double)(end - begin);
        best = rate > best ? rate : best;
    }
    return best;
}
