/* What is read from the system: memory, cgroups, CPU lists, input; and the text that goes out. */
#include <stdlib.h>
#include <string.h>
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
    cpu_lists();
    oversubscription();
    answers();
    input_lines();
    faults();
    return verdict();
}
