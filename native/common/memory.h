/* How much memory a rank's node can still give, asked of the kernel and of every cgroup above this process. */
#ifndef UNISONO_MEMORY_H
#define UNISONO_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that can be taken without the kernel killing somebody, the reserve taken off; >= 0. */
int64_t memory_available(void);

/* The same with /proc and /sys/fs/cgroup elsewhere, and pure parts, for the tests. */
int64_t memory_left(const char *proc, const char *groups);

/* The value in bytes of a line like "MemAvailable:  123 kB" of /proc/meminfo; -1 when it is not there. */
int64_t meminfo_value(const char *meminfo, const char *name);

/* The path of this process in the hierarchy of a controller, out of /proc/self/cgroup: the line "N:...,name,...:path",
   or "0::path" for the unified hierarchy (name ""). False when it is not there. */
bool cgroup_path(const char *cgroups, const char *name, char *path, size_t room);

/* What a limit and a usage leave, less a reserve of a twentieth of the limit: inactive file pages count as free.
   limit < 0 means none: INT64_MAX. */
int64_t cgroup_left(int64_t limit, int64_t usage, int64_t inactive_file);

#endif
