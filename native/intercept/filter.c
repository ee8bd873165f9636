#include "filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

bool filter_line(const char *line, bool excluded[FUNCTIONS])
{
    char verb[16] = "", pattern[256] = "", rest[2] = "";
    int words = sscanf(line, "%15s %255s %1s", verb, pattern, rest);
    if (words <= 0 || verb[0] == '#')
        return true;
    bool exclude = strcmp(verb, "exclude") == 0;
    if ((!exclude && strcmp(verb, "include") != 0) || words < 2 || (words == 3 && rest[0] != '#'))
        return false;
    for (int f = 1; f < FUNCTIONS; f++)
        if (fnmatch(pattern, function_names[f], 0) == 0)
            excluded[f] = exclude;
    return true;
}

void filter_read(const char *file, bool excluded[FUNCTIONS])
{
    char line[512];
    memset(excluded, 0, FUNCTIONS * sizeof *excluded);
    if (file[0] == '\0')
        return;
    FILE *lines = fopen(file, "re");
    if (lines == NULL) {
        fprintf(stderr, "unisono: UNISONO_PROFILE_FILTER: %s: %s; nothing is filtered\n", file, strerror(errno));
        return;
    }
    for (int number = 1; fgets(line, sizeof line, lines) != NULL; number++)
        if (!filter_line(line, excluded))
            fprintf(stderr, "unisono: %s, line %d: neither `exclude PATTERN` nor `include PATTERN`; ignored\n", file,
                    number);
    fclose(lines);
}
