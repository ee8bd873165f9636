#include "partners.h"

#include <limits.h>

bool partners_read(struct partners *partners, struct command *command, struct problem *problem)
{
    const char *text = command_text(command, "partners");
    int numbers = 0;
    partners->count = 0;
    while (text != NULL) {
        int64_t value;
        size_t length = parse_first(text, INT_MAX, &value);
        if (value < 0)
            return problem_set(problem, "partners: '%.*s' is not a rank", (int)(length < 40 ? length : 40), text);
        if (numbers == 2 * PARTNERS_MOST)
            return problem_set(problem, "partners: more than %d pairs", PARTNERS_MOST);
        partners->pairs[numbers / 2][numbers % 2] = (int)value;
        numbers++;
        text = text[length] == '\0' ? NULL : text + length + 1;
    }
    if (numbers % 2 != 0)
        return problem_set(problem, "partners: the last of %d ranks is no pair", numbers);
    partners->count = numbers / 2;
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
