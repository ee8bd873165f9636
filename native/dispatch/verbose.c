#include "verbose.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "job.h"
#include "measure_pull.h"
#include "measure_ways.h"

void verbose_count(const struct implementation *implementation, int64_t bytes)
{
    struct implementation *one = (struct implementation *)(uintptr_t)implementation;
    struct served *served = __atomic_load_n(&one->served, __ATOMIC_ACQUIRE);
    if (served == NULL) {
        struct served *made = calloc(SIZE_BINS, sizeof *made);
        if (made == NULL)
            return;
        if (__atomic_compare_exchange_n(&one->served, &served, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            served = made;
        else
            free(made);
    }
    struct served *bin = &served[bytes > 0 ? 64 - __builtin_clzll((unsigned long long)bytes) : 0];
    if (__atomic_fetch_add(&bin->calls, 1, __ATOMIC_RELAXED) == 0)
        bin->least = bin->most = bytes; /* of two threads that come first at once one may be forgotten */
    bin->least = bytes < bin->least ? bytes : bin->least;
    bin->most = bytes > bin->most ? bytes : bin->most;
}

static bool serves(const struct implementation *one, int bin)
{
    return one->served != NULL && one->served[bin].calls > 0;
}

static bool any_other(const struct implementation *one, int bin)
{
    for (int i = 0; implementation_at(i) != NULL; i++)
        if (implementation_at(i) != one && implementation_at(i)->collective == one->collective &&
            serves(implementation_at(i), bin))
            return true;
    return false;
}

static void print_run(const struct implementation *one, int64_t least, int64_t most, uint64_t calls)
{
    char sizes[64];
    if (collective_has_no_size(one->collective))
        snprintf(sizes, sizeof sizes, "any");
    else if (least == most)
        snprintf(sizes, sizeof sizes, "%" PRId64, least);
    else
        snprintf(sizes, sizeof sizes, "%" PRId64 "..%" PRId64, least, most);
    fprintf(stderr, "unisono:   %-10s  %-24s  %-28s  %12" PRIu64 "\n", collective_names[one->collective], sizes,
            one->word, calls);
}

/* Neighbouring powers of two are one row, unless another implementation served between them. */
static void print_implementation(const struct implementation *one)
{
    int64_t least = 0, most = 0;
    uint64_t calls = 0;
    for (int bin = 0; bin < SIZE_BINS; bin++) {
        if (serves(one, bin)) {
            const struct served *served = &one->served[bin];
            least = calls == 0 ? served->least : least;
            most = served->most;
            calls += served->calls;
        } else if (calls > 0 && any_other(one, bin)) {
            print_run(one, least, most, calls);
            calls = 0;
        }
    }
    if (calls > 0)
        print_run(one, least, most, calls);
}

/* Words that were asked for and never apply in this run. */
static void print_idle(void)
{
    bool forces = false;
    for (int i = 0; implementation_at(i) != NULL; i++) {
        const struct implementation *one = implementation_at(i);
        forces = forces || one->kind == BY_TUNED || one->kind == BY_LIBNBC;
        if (one->kind == BY_LIBNBC && one->number == 0 && !job.multiple)
            fprintf(stderr, "unisono: %s does not apply to %s: this MPI library has no such algorithm for it\n",
                    one->word, collective_names[one->collective]);
    }
    if (forces && job.multiple)
        fprintf(stderr, "unisono: tuned/... and libnbc/... do not apply with MPI_THREAD_MULTIPLE: what forces an "
                        "algorithm of theirs is the whole process's\n");
}

void verbose_print(void)
{
    char machine[400];
    topology_describe(machine, sizeof machine);
    fprintf(stderr, "unisono: %s\n", machine);
    if (job.has_costs && job.costs.node_wait > 0)
        fprintf(stderr, "unisono: ranks share CPUs: to wait for one another takes them %.1f us\n",
                job.costs.node_wait * 1e6);
    if (job.has_costs && job.costs.meet_more > 0) {
        fprintf(stderr, "unisono: two ranks of a node hear of one another, from the outermost domains on, in");
        for (int depth = 0; depth <= LEVELS && job.costs.meet[depth] > 0; depth++)
            fprintf(stderr, " %.2f", job.costs.meet[depth] * 1e6);
        fprintf(stderr, " us; each further rank adds %.3f us\n", job.costs.meet_more * 1e6);
    }
    if (job.has_costs && job.costs.combine_byte > 0)
        fprintf(
            stderr,
            "unisono: 1 KiB that another rank has just written is copied in %.3f us; combined with one's own, where "
            "both are at hand, in %.3f us\n",
            job.costs.node_byte * 1024e6, job.costs.combine_byte * 1024e6);
    measure_ways_print();
    measure_pull_print();
    fprintf(stderr,
            "unisono: collectives of rank 0: which implementation served its calls of which message size (bytes)\n");
    fprintf(stderr, "unisono:   %-10s  %-24s  %-28s  %12s\n", "collective", "size", "implementation", "calls");
    for (int c = 0; c < COLLECTIVES; c++)
        for (int i = 0; implementation_at(i) != NULL; i++)
            if ((int)implementation_at(i)->collective == c && implementation_at(i)->served != NULL)
                print_implementation(implementation_at(i));
    print_idle();
}
