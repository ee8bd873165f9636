#include "trial_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "agree.h"
#include "agreement.h"
#include "node/attach.h"
#include "trial_streams.h"

static const double days_most = 30;
enum { PATH = 4096, KEY = MPI_MAX_LIBRARY_VERSION_STRING + 1024 };

extern char **environ;

/* Of the variables that say how the MPI library, and ours, send on a node and by which algorithms, in whatever order they are. No others: what
   is another in each job, as a log's name, would make each try all anew. */
static unsigned chosen_ways(void)
{
    static const char *const begin[] = {
        "OMPI_MCA_pml",  "OMPI_MCA_btl", "OMPI_MCA_mtl", "OMPI_MCA_coll", "OMPI_MCA_smsc",
        "UCX_TLS",       "UCX_RNDV",     "UCX_ZCOPY",    "UCX_BCOPY",     "UCX_MM_",
        "UCX_POSIX_",    "UCX_SYSV_",    "UCX_CMA_",     "UCX_XPMEM_",    "UCX_KNEM_",
        "FI_PROVIDER",   "MPIR_CVAR_",   "MPICH_SMP",    "MPICH_SHM",     "MPICH_COLL",
        "I_MPI_FABRICS", "I_MPI_SHM",    "I_MPI_ADJUST", "UNISONO_CELLS", "UNISONO_XPMEM"};
    unsigned sum = 0;
    for (char **one = environ; one != NULL && *one != NULL; one++)
        for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
            if (strncmp(*one, begin[i], strlen(begin[i])) == 0)
                sum += (unsigned)agreement_hash(*one);
    return sum;
}

/* A file's name: one for each of these. */
static bool path_of(char *path, int ranks, bool make)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool given = cache != NULL && cache[0] == '/';
    struct utsname system;
    int length;
    PMPI_Get_library_version(library, &length);
    if ((!given && (home == NULL || home[0] != '/')) || uname(&system) != 0)
        return false;
    int used = snprintf(path, PATH, "%s%s/unisono/trials/%s-%d-%08x", given ? cache : home, given ? "" : "/.cache",
                        system.nodename, ranks, (unsigned)agreement_hash(library) ^ chosen_ways());
    if (used <= 0 || used >= PATH)
        return false;
    for (char *slash = strchr(path + 1, '/'); make && slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool there = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!there)
            return false;
    }
    return true;
}

/* What else the numbers depend on; its length, 0 where it does not fit. */
static int key_of(char *key, int ranks)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING], cpu[256] = "";
    struct utsname system;
    int length;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(cpu, sizeof cpu, file) != NULL && strncmp(cpu, "model name", 10) != 0 &&
           strncmp(cpu, "CPU part", 8) != 0)
        ;
    if (file != NULL)
        fclose(file);
    PMPI_Get_library_version(library, &length);
    if (uname(&system) != 0)
        return 0;
    int used =
        snprintf(key, KEY, "unisono-trial 3|%s|%s|%08x|%d|%s|%s|%ld|%d|%s", agree_sources(), library, chosen_ways(),
                 attach_works(), system.release, system.machine, sysconf(_SC_NPROCESSORS_ONLN), ranks, cpu);
    return used > 0 && used < KEY ? used : 0;
}

static bool are_times(const float *values, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(values[i]) || values[i] < 0)
            return false;
    return true;
}

static bool is_good(const struct trial *trial)
{
    const struct costs *costs = &trial->costs;
    const double known[] = {costs->node_latency,   costs->node_byte, costs->fabric_latency, costs->fabric_byte,
                            costs->fabric_message, costs->pull_call, costs->pull_byte};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!isfinite(known[i]) || known[i] <= 0)
            return false;
    return isfinite(costs->node_wait) && costs->node_wait >= 0 && isfinite(costs->combine_byte) &&
           costs->combine_byte >= 0 && trial->starts >= 1 && trial->starts <= TRIAL_STARTS && trial->streams >= 0 &&
           trial->streams < STREAMS && are_times(*trial->ours, TRIAL_SIZES * COLLECTIVES_AT_ONCE) &&
           are_times(*trial->mpis, TRIAL_SIZES * COLLECTIVES_AT_ONCE) &&
           are_times(*trial->factor, TRIAL_SIZES * TRIAL_ALGORITHMS);
}

/* The key, a zero, and what was found, as it is in memory. */
bool trial_read(struct trial *trial, int ranks)
{
    char key[KEY], there[KEY], path[PATH];
    struct stat about;
    struct trial in_file;
    int length = key_of(key, ranks);
    if (length == 0 || !path_of(path, ranks, false))
        return false;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    bool good = fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
                difftime(time(NULL), about.st_mtime) < days_most * 86400 &&
                about.st_size == (off_t)((size_t)length + 1 + sizeof in_file) &&
                read(file, there, (size_t)length + 1) == length + 1 && memcmp(there, key, (size_t)length + 1) == 0 &&
                read(file, &in_file, sizeof in_file) == (ssize_t)sizeof in_file && is_good(&in_file);
    close(file);
    if (good)
        *trial = in_file;
    return good;
}

/* Under another name first: two runs may write at once. */
void trial_write(const struct trial *trial, int ranks)
{
    char key[KEY], path[PATH], partial[PATH + 32];
    int length = key_of(key, ranks);
    if (length == 0 || !path_of(path, ranks, true))
        return;
    snprintf(partial, sizeof partial, "%s.%ld", path, (long)getpid());
    int file = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    bool good = write(file, key, (size_t)length + 1) == length + 1 &&
                write(file, trial, sizeof *trial) == (ssize_t)sizeof *trial;
    good = close(file) == 0 && good;
    if (!good || rename(partial, path) != 0)
        unlink(partial);
}
