/* What the system says of CPUs, NUMA domains and caches: the input's lines are the files of a tree like /sys. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "bound.h"

enum { NODES = 2, CPUS = 2, CACHES = 2, PATH_BYTES = 256 };
static const char *const of_cache[] = {"type", "level", "shared_cpu_list"};
enum { OF_CACHE = sizeof of_cache / sizeof *of_cache, FILES = NODES + CPUS + CACHES * OF_CACHE };
static char root[] = "/tmp/unisono-fuzz-XXXXXX";
static int files[FILES];

static void remove_tree(void)
{
    char command[PATH_BYTES];
    snprintf(command, sizeof command, "rm -rf %s", root);
    if (system(command) != 0)
        perror(root);
}

static int make(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s%s", root, folder);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
    strcat(strcat(path, "/"), name);
    int file = open(path, O_CREAT | O_RDWR, 0600);
    FUZZ_CHECK(file >= 0);
    return file;
}

static void make_tree(void)
{
    char folder[PATH_BYTES];
    FUZZ_CHECK(mkdtemp(root) != NULL);
    atexit(remove_tree);
    for (int i = 0; i < NODES; i++) {
        snprintf(folder, sizeof folder, "/sys/devices/system/node/node%d", i);
        files[i] = make(folder, "cpulist");
    }
    for (int i = 0; i < CPUS; i++) {
        snprintf(folder, sizeof folder, "/sys/devices/system/cpu/cpu%d/topology", i);
        files[NODES + i] = make(folder, "physical_package_id");
    }
    for (int i = 0; i < CACHES * OF_CACHE; i++) {
        snprintf(folder, sizeof folder, "/sys/devices/system/cpu/cpu0/cache/index%d", i / OF_CACHE);
        files[NODES + CPUS + i] = make(folder, of_cache[i % OF_CACHE]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (files[0] == 0)
        make_tree();
    const char *at = (const char *)data, *end = at + size;
    for (int i = 0; i < FILES; i++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = stop != NULL ? (size_t)(stop - at) + 1 : (size_t)(end - at);
        FUZZ_CHECK(ftruncate(files[i], 0) == 0 && pwrite(files[i], at, length, 0) == (ssize_t)length);
        at += length;
    }
    struct cpus cpus = {{0}};
    cpus_add(&cpus, 0);
    cpus_add(&cpus, 1);
    struct bound bound = bound_within(root, &cpus);
    FUZZ_CHECK(bound.in[BY_NUMA] >= -1 && bound.in[BY_NUMA] < NODES && bound.in[BY_SOCKET] >= -1);
    FUZZ_CHECK(bound.in[BY_CACHE] >= -1 && bound.in[BY_CACHE] <= 0); /* it has CPU 0 or is none */
    FUZZ_CHECK(bound.in[BY_INNER_CACHE] >= -1 && bound.in[BY_INNER_CACHE] <= 0);
    return 0;
}
