/* Files of switches, and a job's variables: the first line is this host's name, the second its node's number, the rest the file;
 * its first two lines are variables too. */
#include "fuzz.h"
#include "places/switches.h"

static char *line(char **text)
{
    char *begin = *text, *end = begin + strcspn(begin, "\n");
    *text = *end == '\n' ? end + 1 : end;
    char *copy = strndup(begin, (size_t)(end - begin));
    FUZZ_CHECK(copy != NULL);
    return copy;
}

/* Inner groups lie within the outer ones: whoever shares an inner one shares all. */
static void check_nested(const struct address *one, const struct address *other)
{
    for (int level = 1; level < SWITCH_LEVELS; level++)
        FUZZ_CHECK(one->level[level] != other->level[level] || one->level[level - 1] == other->level[level - 1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *at = text, reason[200] = "", other_reason[200] = "";
    char *host = line(&at), *number = line(&at), *file = at, *address = line(&at), *pattern = line(&at);
    struct address own, other;
    double taper = TAPER, same = TAPER;
    bool is = switches_are_in(file);
    bool good = switches_read(file, host, atoi(number), &own, &taper, reason, sizeof reason);
    FUZZ_CHECK(good == (reason[0] == '\0') && strchr(reason, '\n') == NULL);
    FUZZ_CHECK(taper >= 1 && taper <= 1000 && (is || good || reason[0] != '\0'));
    /* All nodes find the same mistake. */
    FUZZ_CHECK(switches_read(file, "n1", 1, &other, &same, other_reason, sizeof other_reason) == good);
    FUZZ_CHECK(strcmp(reason, other_reason) == 0 && taper == same);
    if (good && own.known && other.known)
        check_nested(&own, &other);
    own = switches_of_job(address, pattern, host);
    FUZZ_CHECK(!own.known || strstr(pattern, "node") != NULL || pattern[0] != '\0');
    free(host), free(number), free(address), free(pattern), free(text);
    return 0;
}
