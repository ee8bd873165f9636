/* Domains: which a process is bound to, by trees of /sys that are put together as Linux shows such machines; and that
 * pages lie where the rank runs that fills its part, on whatever machine this is. */
#include "bound.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/shared_memory.h"
#include "check.h"

static char root[] = "/tmp/unisono-numa-XXXXXX";

/* A file of the tree and the folders it is in. */
static void put(const char *text, const char *format, int number)
{
    char path[256], name[128];
    snprintf(name, sizeof name, format, number);
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + sizeof root; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

static void put_domain(int number, const char *cpus)
{
    put(cpus, "sys/devices/system/node/node%d/cpulist", number);
}

static void put_sockets(int cpus, int each, int most)
{
    char text[16];
    for (int cpu = 0; cpu < cpus; cpu++) {
        snprintf(text, sizeof text, "%d\n", cpu / each % most);
        put(text, "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    }
}

static void clear(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s/sys", root);
    CHECK(system(command) == 0);
}

static bool bound(int from, int to, int numa, int socket)
{
    struct cpus cpus = {{0}};
    for (int cpu = from; cpu <= to; cpu++)
        cpus_add(&cpus, cpu);
    struct bound found = bound_within(root, &cpus);
    if (found.in[BY_NUMA] != numa || found.in[BY_SOCKET] != socket)
        fprintf(stderr, "CPUs %d-%d: domain %d, socket %d\n", from, to, found.in[BY_NUMA], found.in[BY_SOCKET]);
    return found.in[BY_NUMA] == numa && found.in[BY_SOCKET] == socket;
}

/* 2 x 96 cores, four domains a socket, SMT off; a domain of memory alone. */
static void test_epyc(void)
{
    char text[16];
    for (int domain = 0; domain < 8; domain++) {
        snprintf(text, sizeof text, "%d-%d\n", 24 * domain, 24 * domain + 23);
        put_domain(domain, text);
    }
    put_domain(8, "\n");
    put("0-8\n", "sys/devices/system/node/nodes%d", 0); /* not a domain */
    put_sockets(192, 96, 2);
    CHECK(bound(0, 0, 0, 0) && bound(25, 25, 1, 0) && bound(191, 191, 7, 1));
    CHECK(bound(24, 47, 1, 0) && bound(100, 110, 4, 1));
    CHECK(bound(0, 24, -1, 0)); /* two domains of a socket */
    CHECK(bound(0, 95, -1, 0) && bound(96, 191, -1, 1));
    CHECK(bound(0, 191, -1, -1));   /* not bound */
    CHECK(bound(1, 0, -1, -1));     /* nothing */
    CHECK(bound(200, 200, -1, -1)); /* no such CPU */
    clear();
}

/* 2 x 18 cores with two threads each, numbered as Linux does; lists of several parts; a domain a socket. */
static void test_xeon(void)
{
    put_domain(0, "0-17,36-53\n");
    put_domain(1, "18-35,54-71\n");
    put_sockets(72, 18, 2);
    CHECK(bound(17, 17, 0, 0) && bound(36, 53, 0, 0) && bound(54, 54, 1, 1));
    CHECK(bound(17, 18, -1, -1));
    struct cpus both = {{0}};
    cpus_add(&both, 3), cpus_add(&both, 39); /* the threads of a core */
    CHECK(bound_within(root, &both).in[BY_NUMA] == 0 && bound_within(root, &both).in[BY_SOCKET] == 0);
    clear();
}

/* A file of one of a CPU's caches. */
static void put_cache(int cpu, int index, const char *name, const char *text)
{
    char format[96];
    snprintf(format, sizeof format, "sys/devices/system/cpu/cpu%%d/cache/index%d/%s", index, name);
    put(text, format, cpu);
}

/* Its caches, as Linux lists them: of data, of instructions, and two more; `shared` have the last one in common. */
static void put_caches(int cpu, const char *shared, const char *pair)
{
    static const char *const kinds[] = {"Data\n", "Instruction\n", "Unified\n", "Unified\n"};
    static const char *const levels[] = {"1\n", "1\n", "2\n", "3\n"};
    for (int index = 0; index < 4; index++) {
        put_cache(cpu, index, "type", kinds[index]);
        put_cache(cpu, index, "level", levels[index]);
        put_cache(cpu, index, "shared_cpu_list", index == 3 ? shared : pair);
    }
}

static bool bound_to_caches(int from, int to, int last, int inner)
{
    struct cpus cpus = {{0}};
    for (int cpu = from; cpu <= to; cpu++)
        cpus_add(&cpus, cpu);
    struct bound found = bound_within(root, &cpus);
    if (found.in[BY_CACHE] != last || found.in[BY_INNER_CACHE] != inner)
        fprintf(stderr, "CPUs %d-%d: cache %d, below %d\n", from, to, found.in[BY_CACHE], found.in[BY_INNER_CACHE]);
    return found.in[BY_CACHE] == last && found.in[BY_INNER_CACHE] == inner;
}

/* Eight cores share a cache, the two threads of each another; the kernel numbers second threads after all cores. */
static void test_caches(void)
{
    char pair[16];
    for (int cpu = 0; cpu < 16; cpu++) {
        snprintf(pair, sizeof pair, "%d,%d\n", cpu, cpu + 16);
        put_caches(cpu, cpu < 8 ? "0-7,16-23\n" : "8-15,24-31\n", pair);
    }
    CHECK(bound_to_caches(0, 0, 0, 0) && bound_to_caches(5, 5, 0, 5) && bound_to_caches(15, 15, 8, 15));
    CHECK(bound_to_caches(2, 3, 0, -1)); /* two cores */
    CHECK(bound_to_caches(7, 8, -1, -1) && bound_to_caches(40, 40, -1, -1));
    clear();

    /* Twelve cores with a second-level cache in common, which is the last one: none below counts. */
    for (int index = 0; index < 2; index++) {
        put_cache(3, index, "type", index == 0 ? "Data\n" : "Unified\n");
        put_cache(3, index, "level", index == 0 ? "1\n" : "2\n");
        put_cache(3, index, "shared_cpu_list", index == 0 ? "3\n" : "0-11\n");
    }
    CHECK(bound_to_caches(3, 3, 0, -1));
    put_cache(3, 1, "level", "99\n");
    CHECK(bound_to_caches(3, 3, 3, -1)); /* what is no level is none */
    put_cache(3, 0, "shared_cpu_list", "\n");
    CHECK(bound_to_caches(3, 3, -1, -1));
    clear();
}

/* What does not say, or says nonsense. */
static void test_unknown(void)
{
    CHECK(bound(0, 0, -1, -1));
    put("-1\n", "sys/devices/system/cpu/cpu%d/topology/physical_package_id", 0);
    put_domain(0, "zero\n");
    put_domain(1, "5,6,x\n");
    CHECK(bound(0, 0, -1, -1) && bound(5, 6, 1, -1) && bound(7, 7, -1, -1));
    clear();
}

static void test_pretended(void)
{
    CHECK(fake_first("2", 3) == 2 && fake_first("2,1,3", 2) == 2 && fake_first("2,1,3", 5) == 3);
    CHECK(fake_first("2,1,3", 6) == 6 && fake_first("%3", 7) == 1 && fake_first("", 4) == 4);
    CHECK(fake_first("1,2147483647", 5) == 1 && fake_first("2147483647,2147483647", 5) == 0);
}

/* Binds this process to the CPUs of a domain that it may use; false where it has none. */
static bool go_to(int domain, const struct cpus *allowed)
{
    struct cpus here = {{0}};
    bool any = false;
    for (int cpu = 0; cpu < BOUND_CPUS; cpu++) {
        struct cpus one = {{0}};
        if (!cpus_have(allowed, cpu))
            continue;
        cpus_add(&one, cpu);
        if (bound_within("", &one).in[BY_NUMA] == domain)
            cpus_add(&here, cpu), any = true;
    }
    return any && sched_setaffinity(0, sizeof here, (cpu_set_t *)(void *)here.words) == 0;
}

/* Every part of a segment is filled by a process of another domain, and read by this one before it is looked at. */
static void test_placement(void)
{
    enum { MOST = 64, PAGES = 4 };
    struct cpus allowed = {{0}};
    struct shared_place place;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), each = PAGES * page;
    int seen = 0;
    bool there[MOST] = {false};
    CHECK(sched_getaffinity(0, sizeof allowed, (cpu_set_t *)(void *)allowed.words) == 0);
    int file = shared_memory_make(&place, false);
    CHECK(file >= 0 && ftruncate(file, (off_t)(MOST * each)) == 0);
    for (int domain = 0; domain < MOST; domain++) {
        pid_t child = fork();
        int status = 1;
        if (child == 0)
            _exit(go_to(domain, &allowed) ? shared_memory_fill(file, (size_t)domain * each, each) != 0 : 2);
        waitpid(child, &status, 0);
        there[domain] = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 1);
    }
    volatile char *memory = shared_memory_map(file, MOST * each);
    CHECK(memory != NULL);
    for (int domain = 0; domain < MOST && memory != NULL; domain++)
        for (int i = 0; there[domain] && i < PAGES; i++) {
            void *address = (void *)(uintptr_t)(memory + (size_t)domain * each + (size_t)i * page);
            int where = -1;
            CHECK(memory[(size_t)domain * each + (size_t)i * page] == 0);
            if (syscall(SYS_move_pages, 0, 1UL, &address, NULL, &where, 0) != 0)
                continue; /* not permitted in some containers */
            CHECK(where == domain);
            seen++;
        }
    printf("%d pages, each in the domain of the process that filled its part\n", seen);
}

int main(void)
{
    CHECK(mkdtemp(root) != NULL);
    test_epyc();
    test_xeon();
    test_caches();
    test_unknown();
    test_pretended();
    test_placement();
    rmdir(root);
    return verdict();
}
