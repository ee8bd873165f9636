/* What is read from the system: memory, cgroups, CPU lists, input; and the text that goes out. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../bench/counter.h"
#include "../bench/cpus.h"
#include "../bench/fault.h"
#include "../bench/input.h"
#include "../bench/text.h"
#include "../common/memory.h"
#include "check.h"

static void memory(void)
{
    static const char meminfo[] = "MemTotal:       24684084 kB\nMemFree:  100 kB\nMemAvailable:   24288644 kB\n";
    CHECK(meminfo_value(meminfo, "MemTotal") == INT64_C(24684084) * 1024);
    CHECK(meminfo_value(meminfo, "MemAvailable") == INT64_C(24288644) * 1024);
    CHECK(meminfo_value(meminfo, "Mem") == -1);
    CHECK(meminfo_value("", "MemTotal") == -1);
    CHECK(memory_available() >= 0);
}

static void cgroups(void)
{
    static const char text[] = "9:name=systemd:/a\n4:cpu,memory:/job/7\n0::/user.slice\n";
    char path[32];
    CHECK(cgroup_path(text, "memory", path, sizeof path) && strcmp(path, "/job/7") == 0);
    CHECK(cgroup_path(text, "", path, sizeof path) && strcmp(path, "/user.slice") == 0);
    CHECK(!cgroup_path(text, "mem", path, sizeof path));
    CHECK(!cgroup_path(text, "memory", path, 4));
    CHECK(!cgroup_path("garbage", "memory", path, sizeof path));
    CHECK(cgroup_left(-1, 5, 0) == INT64_MAX);
    CHECK(cgroup_left(100, 30, 10) == 75);
    CHECK(cgroup_left(100, 130, 10) == 0);
    CHECK(cgroup_left(100, 5, 50) == 95);
    CHECK(cgroup_left(INT64_MAX, 5, 0) > INT64_MAX / 2);
}

static void file(const char *root, const char *name, const char *text)
{
    char path[512], *slash;
    snprintf(path, sizeof path, "%s/%s", root, name);
    mkdir(root, 0700);
    for (slash = strchr(path + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *made = fopen(path, "w");
    CHECK(made != NULL && fputs(text, made) >= 0 && fclose(made) == 0);
}

static int removed(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

/* What a job's process sees, as recorded with Slurm 23 (version 2), in a container with version 1, and on a host with
 * both; the node itself has 64 GB of 125 left. */
static void limits(void)
{
    enum { MEGA = 1 << 20 };
    const int64_t reserve = INT64_C(131072000) * 1024 / 20, node = INT64_C(67108864) * 1024 - reserve;
    char root[] = "/tmp/unisono-limits-XXXXXX", proc[64], groups[64];
    CHECK(mkdtemp(root) != NULL);
    snprintf(proc, sizeof proc, "%s/proc", root);
    snprintf(groups, sizeof groups, "%s/groups", root);
    file(root, "proc/meminfo", "MemTotal:  131072000 kB\nMemFree:  1 kB\nMemAvailable:  67108864 kB\n");
    CHECK(memory_left(proc, groups) == node);
    file(proc, "self/cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n");
    const char *job = "system.slice/slurmstepd.scope/job_7";
    char path[256];
    snprintf(path, sizeof path, "%s/step_0/user/task_0/memory.max", job);
    file(groups, path, "max\n");
    CHECK(memory_left(proc, groups) == node);
    snprintf(path, sizeof path, "%s/memory.max", job);
    file(groups, path, "2147483648\n");
    snprintf(path, sizeof path, "%s/memory.current", job);
    file(groups, path, "1073741824\n");
    snprintf(path, sizeof path, "%s/memory.stat", job);
    file(groups, path, "anon 1\ninactive_anon 7\ninactive_file 104857600\n");
    const int64_t two = INT64_C(2048) * MEGA;
    CHECK(memory_left(proc, groups) == two - two / 20 - (1024 - 100) * (int64_t)MEGA);
    file(groups, "system.slice/memory.high", "1258291200\n"); /* 1200 MB, of which 1100 are used */
    file(groups, "system.slice/memory.current", "1153433600\n");
    CHECK(memory_left(proc, groups) == (1200 - 60 - 1100) * (int64_t)MEGA);
    file(proc, "self/cgroup", "12:memory:/docker/f00d\n0::/elsewhere\n"); /* that path is not to be seen inside */
    file(groups, "memory/memory.limit_in_bytes", "536870912\n");
    file(groups, "memory/memory.usage_in_bytes", "104857600\n");
    file(groups, "memory/memory.stat", "cache 1\ninactive_file 1\ntotal_inactive_file 20971520\n");
    const int64_t half = INT64_C(512) * MEGA;
    CHECK(memory_left(proc, groups) == half - half / 20 - (100 - 20) * (int64_t)MEGA);
    file(groups, "memory/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    CHECK(memory_left(proc, groups) == node);
    CHECK(nftw(root, removed, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

static void cpu_lists(void)
{
    struct cpus cpus;
    CHECK(cpus_parse("0-3,8\n", &cpus) && cpus_count(&cpus) == 5 && cpus_has(&cpus, 8) && !cpus_has(&cpus, 4));
    CHECK(cpus_parse("", &cpus) && cpus_count(&cpus) == 0);
    CHECK(!cpus_parse("3-1", &cpus));
    CHECK(!cpus_parse("a", &cpus));
    CHECK(!cpus_parse("1;2", &cpus));
    CHECK(!cpus_parse("99999999", &cpus));
    CHECK(!cpus_parse("1-", &cpus));
}

static void oversubscription(void)
{
    struct cpus masks[4] = {{{0}}};
    cpus_parse("0-1", &masks[0]);
    cpus_parse("0-1", &masks[1]);
    CHECK(!cpus_oversubscribed(masks, 2));
    cpus_parse("0-1", &masks[2]);
    CHECK(cpus_oversubscribed(masks, 3));
    cpus_parse("2", &masks[2]);
    CHECK(!cpus_oversubscribed(masks, 3));
    cpus_parse("2", &masks[3]); /* four CPUs would do, but two ranks must share CPU 2 */
    cpus_parse("3", &masks[1]);
    CHECK(cpus_oversubscribed(masks, 4));
}

static void answers(void)
{
    struct text text = {0};
    const int64_t values[] = {1, -2, INT64_MAX};
    text_quote(&text, "a\"b\\\n\xe9");
    CHECK(strcmp(text.bytes, "\"a\\\"b\\\\\\u000a\\u00e9\"") == 0);
    text.length = 0;
    text_integers(&text, values, 3);
    CHECK(strcmp(text.bytes, "[1,-2,9223372036854775807]") == 0);
    for (int i = 0; i < 10000; i++)
        text_add(&text, "%d,", i);
    CHECK(text.length == strlen(text.bytes));
    text_free(&text);
}

static void input_lines(void)
{
    int ends[2];
    struct input input;
    char *line = NULL;
    size_t room = 0;
    char *many = malloc(10000);
    memset(many, 'x', 10000);
    many[9999] = '\n';
    CHECK(pipe(ends) == 0);
    CHECK(write(ends[1], "one\n\ntwo", 8) == 8 && write(ends[1], many, 10000) == 10000);
    close(ends[1]);
    input_begin(&input, ends[0], 1000);
    CHECK(input_line(&input, &line, &room) == 4 && strcmp(line, "one") == 0);
    CHECK(input_line(&input, &line, &room) == 1 && strcmp(line, "") == 0);
    CHECK(input_line(&input, &line, &room) == 3 + 10000 && strncmp(line, "twoxx", 5) == 0);
    CHECK(input_line(&input, &line, &room) == 0);
    close(ends[0]);
    CHECK(pipe(ends) == 0);
    input_begin(&input, ends[0], 20);
    CHECK(input_line(&input, &line, &room) == 0); /* nobody says anything */
    close(ends[0]);
    close(ends[1]);
    free(many);
    free(line);
}

static void faults(void)
{
    struct fault fault;
    struct problem problem = {""};
    setenv("UNISONO_TEST_VARIABLE", "16kb", 1);
    CHECK(fault_parse(NULL, &fault, &problem) && fault_strikes(&fault, "bcast", 1) == FAULT_NONE);
    CHECK(fault_parse("hang:bcast", &fault, &problem));
    CHECK(fault_strikes(&fault, "bcast", 1) == FAULT_HANG);
    CHECK(fault_strikes(&fault, "bcast", 0) == FAULT_NONE);
    CHECK(fault_strikes(&fault, "reduce", 1) == FAULT_NONE);
    CHECK(fault_parse("wrong:bcast:always", &fault, &problem) && fault_strikes(&fault, "bcast", 0) == FAULT_WRONG);
    CHECK(fault_parse("crash:bcast:UNISONO_TEST_VARIABLE=16kb", &fault, &problem));
    CHECK(fault_strikes(&fault, "bcast", 0) == FAULT_CRASH);
    CHECK(fault_parse("crash:bcast:UNISONO_TEST_VARIABLE=8kb", &fault, &problem));
    CHECK(fault_strikes(&fault, "bcast", 1) == FAULT_NONE);
    CHECK(!problem_any(&problem));
    static const char *const wrong[] = {
        "x", "hang", "hang:", "hangs:bcast", ":bcast", "wrong:bcast:often", "wrong:bcast:=1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        problem.text[0] = '\0';
        CHECK(!fault_parse(wrong[i], &fault, &problem) && problem_any(&problem));
    }
}

/* A processor counts somewhere between 100 MHz and 20 GHz. */
static void test_counter(void)
{
    struct counter counter;
    if (!counter_is_clock())
        return;
    counter_start(&counter);
    counter_calibrate(&counter);
    CHECK(counter.tick > 0.05 && counter.tick < 10);
    int64_t before = counter_after(), after = counter_after();
    CHECK(after >= before && before > counter.first);
}

int main(void)
{
    test_counter();
    memory();
    cgroups();
    limits();
    cpu_lists();
    oversubscription();
    answers();
    input_lines();
    faults();
    return verdict();
}
