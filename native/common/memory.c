#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Little of the stack: a communicator is made by whatever thread calls, and that may have 64 KiB. */
enum {
    FILE_BYTES = 8192,
    LINE_BYTES = 128,
    PATH_BYTES = 1024,
    DIRECTORY_BYTES = 2 * PATH_BYTES,
    NAMED_BYTES = DIRECTORY_BYTES + 64
};

static bool read_file(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t length = fread(text, 1, room - 1, file);
    fclose(file);
    text[length] = '\0';
    return length > 0;
}

int64_t meminfo_value(const char *meminfo, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = meminfo; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            return strtoll(line + length + 1, NULL, 10) * 1024;
        if (*line == '\0')
            break;
    }
    return -1;
}

static bool names_controller(const char *list, size_t length, const char *name)
{
    size_t wanted = strlen(name);
    for (size_t start = 0; start <= length;) {
        size_t end = start;
        while (end < length && list[end] != ',')
            end++;
        if (end - start == wanted && memcmp(list + start, name, wanted) == 0)
            return true;
        start = end + 1;
    }
    return false;
}

bool cgroup_path(const char *cgroups, const char *name, char *path, size_t room)
{
    for (const char *line = cgroups; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        const char *list = memchr(line, ':', length);
        const char *where = list ? memchr(list + 1, ':', length - (size_t)(list + 1 - line)) : NULL;
        if (where != NULL && names_controller(list + 1, (size_t)(where - list - 1), name)) {
            size_t bytes = length - (size_t)(where + 1 - line);
            if (bytes == 0 || bytes >= room)
                return false;
            memcpy(path, where + 1, bytes);
            path[bytes] = '\0';
            return true;
        }
        line += length + (line[length] == '\n');
    }
    return false;
}

int64_t cgroup_left(int64_t limit, int64_t usage, int64_t inactive_file)
{
    if (limit < 0)
        return INT64_MAX;
    int64_t used = usage > inactive_file ? usage - inactive_file : 0;
    int64_t left = limit - limit / 20 - used;
    return left > 0 ? left : 0;
}

/* A number in a one-line file; -1 for "max" or no file. */
static int64_t read_number(const char *directory, const char *name)
{
    char path[NAMED_BYTES], text[LINE_BYTES];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!read_file(path, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return -1;
    return strtoll(text, NULL, 10);
}

/* "inactive_file 123" in memory.stat: page cache the kernel drops before it kills. */
static int64_t inactive_file(const char *directory, const char *key)
{
    char path[NAMED_BYTES], line[LINE_BYTES];
    int64_t bytes = 0;
    snprintf(path, sizeof path, "%s/memory.stat", directory);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            bytes = strtoll(line + strlen(key), NULL, 10);
    if (file != NULL)
        fclose(file);
    return bytes;
}

static int64_t left_in(const char *directory, bool unified)
{
    int64_t limit = read_number(directory, unified ? "memory.max" : "memory.limit_in_bytes");
    const int64_t high = unified ? read_number(directory, "memory.high") : -1; /* above it a group hardly moves */
    limit = high >= 0 && (limit < 0 || high < limit) ? high : limit;
    if (limit < 0 || limit > INT64_MAX / 2) /* none, in the words of version 2 and of version 1 */
        return INT64_MAX;
    int64_t usage = read_number(directory, unified ? "memory.current" : "memory.usage_in_bytes");
    return usage < 0 ? INT64_MAX
                     : cgroup_left(limit, usage,
                                   inactive_file(directory, unified ? "inactive_file " : "total_inactive_file "));
}

/* The smallest remainder on the way from this process's group up to the root of the hierarchy. Inside a container the
   path may name a directory that is not visible here; the walk then still reaches the mount point, which is its own. */
static int64_t left_in_hierarchy(const char *cgroups, const char *mount, const char *controller)
{
    char path[PATH_BYTES], directory[DIRECTORY_BYTES];
    if (!cgroup_path(cgroups, controller, path, sizeof path))
        return INT64_MAX;
    int64_t least = INT64_MAX;
    while (true) {
        snprintf(directory, sizeof directory, "%s%s", mount, path);
        int64_t left = left_in(directory, controller[0] == '\0');
        least = left < least ? left : least;
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            return least;
        *slash = '\0';
    }
}

int64_t memory_left(const char *proc, const char *groups)
{
    char path[PATH_BYTES], text[FILE_BYTES];
    int64_t least = INT64_MAX;
    snprintf(path, sizeof path, "%s/meminfo", proc);
    if (read_file(path, text, sizeof text)) {
        int64_t available = meminfo_value(text, "MemAvailable");
        int64_t total = meminfo_value(text, "MemTotal");
        /* The reserve: other programs go on, and the MPI library itself takes some. */
        int64_t reserve = total / 20 > ((int64_t)128 << 20) ? total / 20 : (int64_t)128 << 20;
        least = (available >= 0 ? available : meminfo_value(text, "MemFree")) - reserve;
    }
    snprintf(path, sizeof path, "%s/self/cgroup", proc);
    const struct {
        const char *mount, *controller;
    } hierarchies[] = {{"", ""}, {"/unified", ""}, {"/memory", "memory"}};
    for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies && read_file(path, text, sizeof text); i++) {
        char mount[PATH_BYTES];
        snprintf(mount, sizeof mount, "%s%s", groups, hierarchies[i].mount);
        int64_t left = left_in_hierarchy(text, mount, hierarchies[i].controller);
        least = left < least ? left : least;
    }
    return least > 0 ? least : 0;
}

int64_t memory_available(void)
{
    return memory_left("/proc", "/sys/fs/cgroup");
}
