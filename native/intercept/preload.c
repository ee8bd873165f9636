#include "preload.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char variable[] = "LD_PRELOAD";
static const char separators[] = ": "; /* as ld.so takes them */

/* Whether an entry names the file at `path`: as it was loaded, by another path, or by its name alone. */
static bool names(const char *entry, const char *path)
{
    struct stat one, other;
    const char *slash = strrchr(path, '/');
    if (strcmp(entry, path) == 0)
        return true;
    if (strchr(entry, '/') == NULL)
        return slash != NULL && strcmp(entry, slash + 1) == 0;
    return stat(entry, &one) == 0 && stat(path, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

bool preload_forget(void)
{
    Dl_info own;
    const char *before = getenv(variable);
    if (before == NULL || before[0] == '\0' || dladdr(variable, &own) == 0 || own.dli_fname == NULL)
        return false;
    char *entries = strdup(before), *kept = calloc(strlen(before) + 1, 1), *rest = NULL;
    bool found = false;
    char *entry = entries != NULL && kept != NULL ? strtok_r(entries, separators, &rest) : NULL;
    for (; entry != NULL; entry = strtok_r(NULL, separators, &rest)) {
        if (names(entry, own.dli_fname)) {
            found = true;
            continue;
        }
        if (kept[0] != '\0')
            strcat(kept, ":");
        strcat(kept, entry);
    }
    /* Never unsetenv: it moves the variables that follow, and another thread may be reading them. */
    if (found)
        setenv(variable, kept, 1);
    free(entries);
    free(kept);
    return found;
}
