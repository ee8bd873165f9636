#include "flags.h"

#include "clock.h"
#include "wait.h"

/* Many short runs: the shortest of them was not interrupted. */
enum { RUNS = 60, TURNS = 100 };

/* Only ever called with a CPU for every rank: the one awaited is running. A pause takes as long as a third of a flag's
 * way on some processors, so what is measured as a limit is tried without it, too. */
static inline void await(const struct flags *flags, const _Atomic uint64_t *flag, uint64_t value)
{
    while (atomic_load_explicit(flag, memory_order_acquire) < value)
        if (!flags->hurries)
            cpu_pause();
}

void flags_disseminate(struct flags *flags)
{
    uint64_t value = ++flags->sequence;
    int round = 0;
    for (int reach = 1; reach < flags->count; reach *= 2, round++) {
        struct flag_rank *partner = flags->ranks[(flags->rank + reach) % flags->count];
        atomic_store_explicit(&partner->round[round].value, value, memory_order_release);
        await(flags, &flags->ranks[flags->rank]->round[round].value, value);
    }
}

void flags_read_all(struct flags *flags)
{
    uint64_t value = ++flags->sequence;
    atomic_store_explicit(&flags->ranks[flags->rank]->own, value, memory_order_release);
    for (int i = 1; i < flags->count; i++)
        await(flags, &flags->ranks[(flags->rank + i) % flags->count]->own, value);
}

double flags_latency(struct flags *flags, int a, int b)
{
    double best = 0;
    flags_disseminate(flags);
    for (int run = 0; run < RUNS; run++) {
        uint64_t first = flags->pings + 1;
        flags->pings += TURNS;
        if (flags->rank != a && flags->rank != b)
            continue;
        flags->hurries = run % 2;
        struct flag_rank *mine = flags->ranks[flags->rank];
        const struct flag_rank *other = flags->ranks[flags->rank == a ? b : a];
        int64_t begin = clock_now();
        for (uint64_t turn = first; turn <= flags->pings; turn++) {
            if (flags->rank == b)
                await(flags, &other->ping, turn);
            atomic_store_explicit(&mine->ping, turn, memory_order_release);
            if (flags->rank == a)
                await(flags, &other->ping, turn);
        }
        double each = (double)(clock_now() - begin) / (2.0 * TURNS);
        best = run == 0 || each < best ? each : best;
    }
    flags->hurries = false;
    flags_disseminate(flags);
    return best;
}

double flags_exchange(struct flags *flags, int runs)
{
    double best = 0;
    for (int run = 0; run < runs; run++) {
        void (*exchange)(struct flags *) = run % 2 ? flags_read_all : flags_disseminate;
        flags_disseminate(flags);
        flags->hurries = run / 2 % 2;
        int64_t begin = clock_now();
        for (int turn = 0; turn < TURNS; turn++)
            exchange(flags);
        flags->hurries = false;
        double each = (double)(clock_now() - begin) / TURNS;
        best = run == 0 || each < best ? each : best;
    }
    return best;
}
