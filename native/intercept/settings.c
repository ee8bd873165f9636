#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_DEFAULT = 8, DEPTH_MOST = 16 };
static const size_t memory_default = (size_t)32 << 20, memory_least = (size_t)64 << 10;

/* The program may change its directory before it ends. */
static void absolute(char *to, const char *path)
{
    char here[PATH_MAX];
    if (path[0] == '/' || getcwd(here, sizeof here) == NULL || snprintf(to, PATH_MAX, "%s/%s", here, path) >= PATH_MAX)
        snprintf(to, PATH_MAX, "%s", path);
}

static long number(const char *variable, long fallback, long least, long most,
                   void (*complain)(const char *, const char *))
{
    const char *text = getenv(variable);
    if (text == NULL || text[0] == '\0')
        return fallback;
    char *end;
    long value = strtol(text, &end, 10);
    if (*end == '\0' && value >= least && value <= most)
        return value;
    complain(variable, text);
    return fallback;
}

void settings_read(struct settings *settings, void (*complain)(const char *variable, const char *value))
{
    const char *prefix = getenv("UNISONO_PROFILE"), *filter = getenv("UNISONO_PROFILE_FILTER");
    const char *start = getenv("UNISONO_PROFILE_START");
    *settings = (struct settings){0};
    if (prefix == NULL || prefix[0] == '\0')
        return;
    absolute(settings->prefix, prefix);
    if (filter != NULL && filter[0] != '\0')
        absolute(settings->filter, filter);
    settings->depth = (int)number("UNISONO_PROFILE_DEPTH", DEPTH_DEFAULT, 0, DEPTH_MOST, complain);
    settings->split_waiting = number("UNISONO_PROFILE_SPLIT_WAITING", 0, 0, 1, complain) != 0;
    settings->memory =
        (size_t)number("UNISONO_PROFILE_MEMORY", (long)memory_default, (long)memory_least, LONG_MAX / 2, complain);
    settings->start = start == NULL || strcmp(start, "off") != 0;
}
