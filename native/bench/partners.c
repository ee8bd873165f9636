#include "partners.h"

#include <limits.h>

/* Numbers with commas between them, at most `most`; -1 and a problem for anything else. */
static int numbers_read(const char *what, const char *text, int *numbers, int most, struct problem *problem)
{
    int count = 0;
    while (text != NULL) {
        int64_t value;
        size_t length = parse_first(text, INT_MAX, &value);
        if (value < 0)
            problem_set(problem, "%s: '%.*s' is not a rank or a number of its kind", what,
                        (int)(length < 40 ? length : 40), text);
        else if (count == most)
            problem_set(problem, "%s: more than %d numbers", what, most);
        if (value < 0 || count == most)
            return -1;
        numbers[count++] = (int)value;
        text = text[length] == '\0' ? NULL : text + length + 1;
    }
    return count;
}

bool partners_read(struct partners *partners, struct command *command, struct problem *problem)
{
    int pairs =
        numbers_read("partners", command_text(command, "partners"), partners->pairs[0], 2 * PARTNERS_MOST, problem);
    int step = pairs < 0 ? -1
                         : numbers_read("step", command_text(command, "step"), (int *)partners->step,
                                        ACTION_NUMBERS * STEP_MOST, problem);
    if (pairs < 0 || step < 0)
        return false;
    if (pairs % 2 != 0)
        return problem_set(problem, "partners: the last of %d ranks is no pair", pairs);
    if (step % ACTION_NUMBERS != 0)
        return problem_set(problem, "step: %d numbers are no actions of %d", step, ACTION_NUMBERS);
    partners->count = pairs / 2;
    partners->actions = step / ACTION_NUMBERS;
    return true;
}

bool partners_step(const struct partners *partners, int rank, int ranks, struct action *own, int *count,
                   struct problem *problem)
{
    *count = 0;
    for (int i = 0; i < partners->actions; i++) {
        const struct action *action = &partners->step[i];
        if (action->rank >= ranks || action->peer >= ranks)
            return problem_set(problem, "step: there is no rank %d",
                               action->rank >= ranks ? action->rank : action->peer);
        if (action->operation >= STEP_OPERATIONS)
            return problem_set(problem, "step: there is no operation %d", action->operation);
        if (action->rank == rank)
            own[(*count)++] = *action;
    }
    return true;
}

bool partners_of(const struct partners *partners, int rank, int ranks, int *targets, int *target_count, int *sources,
                 int *source_count, struct problem *problem)
{
    *target_count = *source_count = 0;
    if (partners->count == 0) {
        int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
        targets[(*target_count)++] = sources[(*source_count)++] = before;
        if (after != before)
            targets[(*target_count)++] = sources[(*source_count)++] = after;
        return true;
    }
    for (int i = 0; i < partners->count; i++) {
        int source = partners->pairs[i][0], target = partners->pairs[i][1];
        if (source >= ranks || target >= ranks)
            return problem_set(problem, "partners: there is no rank %d", source >= ranks ? source : target);
        if (source == rank)
            targets[(*target_count)++] = target;
        if (target == rank)
            sources[(*source_count)++] = source;
    }
    return true;
}
