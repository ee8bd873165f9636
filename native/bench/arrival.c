#include "arrival.h"

#include "pattern.h"

static const int64_t longest = INT64_C(10000000000); /* ns: nobody waits longer for a repetition to begin */

static bool read_each(struct arrival *arrival, const char *text, struct problem *problem)
{
    while (true) {
        int64_t value;
        size_t length = parse_first(text, longest, &value);
        if (value < 0)
            return problem_set(problem, "late_ns: '%.*s' is not a whole number from 0 to 10000000000",
                               (int)(length < 40 ? length : 40), text);
        if (arrival->count == ARRIVAL_MOST)
            return problem_set(problem, "late_ns: more than %d numbers", ARRIVAL_MOST);
        arrival->each[arrival->count++] = value;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

bool arrival_read(struct arrival *arrival, struct command *command, struct problem *problem)
{
    const int64_t none = 0;
    int64_t seed;
    const char *each = command_text(command, "late_ns");
    *arrival = (struct arrival){.count = 0};
    if ((each != NULL && !read_each(arrival, each, problem)) ||
        !command_integer(command, "late_drawn_ns", 0, longest, &none, &arrival->drawn, problem) ||
        !command_integer(command, "seed", 0, INT64_MAX, &none, &seed, problem))
        return false;
    arrival->seed = (uint64_t)seed;
    return true;
}

int64_t arrival_of(const struct arrival *arrival, int rank, int ranks, uint64_t repetition)
{
    int64_t late = 0;
    if (arrival->count > 0)
        late = arrival->each[(int64_t)rank * arrival->count / ranks];
    if (arrival->drawn > 0 && pattern_mix(arrival->seed ^ pattern_mix(repetition)) % (uint64_t)ranks == (uint64_t)rank)
        late += arrival->drawn;
    return late;
}

int64_t arrival_last(const struct arrival *arrival, int ranks, uint64_t repetition)
{
    int64_t last = 0;
    for (int rank = 0; arrival_any(arrival) && rank < ranks; rank++) {
        int64_t late = arrival_of(arrival, rank, ranks, repetition);
        last = late > last ? late : last;
    }
    return last;
}
