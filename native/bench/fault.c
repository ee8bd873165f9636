#include "fault.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool parse_where(const char *where, struct fault *fault, struct problem *problem)
{
    if (strcmp(where, "always") == 0) {
        fault->in_default = true;
        return true;
    }
    const char *equals = strchr(where, '=');
    char name[64];
    if (equals == NULL || equals == where || (size_t)(equals - where) >= sizeof name)
        return problem_set(problem, "UNISONO_BENCH_FAULT: '%.40s' is neither always nor NAME=VALUE", where);
    memcpy(name, where, (size_t)(equals - where));
    name[equals - where] = '\0';
    const char *value = getenv(name);
    fault->in_default = true;
    if (value == NULL || strcmp(value, equals + 1) != 0)
        fault->kind = FAULT_NONE;
    return true;
}

bool fault_parse(const char *text, struct fault *fault, struct problem *problem)
{
    static const char *const kinds[] = {"", "wrong", "hang", "crash"};
    *fault = (struct fault){.kind = FAULT_NONE};
    if (text == NULL || *text == '\0')
        return true;
    size_t length = strcspn(text, ":");
    for (int kind = FAULT_WRONG; kind <= FAULT_CRASH; kind++)
        if (strlen(kinds[kind]) == length && strncmp(text, kinds[kind], length) == 0)
            fault->kind = (enum fault_kind)kind;
    if (fault->kind == FAULT_NONE || text[length] != ':')
        return problem_set(problem, "UNISONO_BENCH_FAULT: '%.60s' does not begin with wrong:, hang: or crash:", text);
    text += length + 1;
    length = strcspn(text, ":");
    if (length == 0 || length >= sizeof fault->collective)
        return problem_set(problem, "UNISONO_BENCH_FAULT: no collective after the kind");
    memcpy(fault->collective, text, length);
    return text[length] == '\0' || parse_where(text + length + 1, fault, problem);
}

enum fault_kind fault_strikes(const struct fault *fault, const char *collective, int setting)
{
    if (strcmp(fault->collective, collective) != 0 || (setting == 0 && !fault->in_default))
        return FAULT_NONE;
    return fault->kind;
}

void fault_act(enum fault_kind kind)
{
    if (kind == FAULT_CRASH)
        abort();
    while (kind == FAULT_HANG)
        pause();
}
