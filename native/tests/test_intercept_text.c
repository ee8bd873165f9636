/* What is read from the environment and the filter, and what is written. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "check.h"
#include "filter.h"
#include "modules.h"
#include "settings.h"
#include "ticks.h"

static int complaints;

static void complain(const char *variable, const char *value)
{
    (void)variable, (void)value;
    complaints++;
}

static int number_of(const char *name)
{
    for (int f = 1; f < FUNCTIONS; f++)
        if (strcmp(function_names[f], name) == 0)
            return f;
    return 0;
}

static void filter(void)
{
    bool excluded[FUNCTIONS] = {false};
    const int test = number_of("MPI_Test"), testall = number_of("MPI_Testall"), send = number_of("MPI_Send");
    CHECK(test > 0 && testall > 0 && send > 0);
    CHECK(filter_line("", excluded) && filter_line("  # exclude MPI_Send\n", excluded));
    CHECK(!excluded[send]);
    CHECK(filter_line("exclude MPI_Test*\n", excluded));
    CHECK(excluded[test] && excluded[testall] && !excluded[send]);
    CHECK(filter_line("  include   MPI_Testall # all but this\n", excluded));
    CHECK(excluded[test] && !excluded[testall]);
    CHECK(!filter_line("exclude", excluded) && !filter_line("leave MPI_Send", excluded));
    CHECK(!filter_line("exclude MPI_Send MPI_Recv", excluded) && !excluded[send]);
}

static void settings(void)
{
    struct settings got;
    unsetenv("UNISONO_PROFILE");
    settings_read(&got, complain);
    CHECK(got.prefix[0] == '\0' && complaints == 0);
    CHECK(chdir("/usr") == 0);
    setenv("UNISONO_PROFILE", "out/profile", 1);
    settings_read(&got, complain);
    CHECK(strcmp(got.prefix, "/usr/out/profile") == 0 && got.depth == 8 && got.start && !got.split_waiting);
    CHECK(got.memory == (size_t)32 << 20 && got.filter[0] == '\0' && complaints == 0);
    setenv("UNISONO_PROFILE", "/x", 1);
    setenv("UNISONO_PROFILE_DEPTH", "0", 1);
    setenv("UNISONO_PROFILE_SPLIT_WAITING", "1", 1);
    setenv("UNISONO_PROFILE_START", "off", 1);
    setenv("UNISONO_PROFILE_FILTER", "f", 1);
    settings_read(&got, complain);
    CHECK(strcmp(got.prefix, "/x") == 0 && strcmp(got.filter, "/usr/f") == 0);
    CHECK(got.depth == 0 && got.split_waiting && !got.start && complaints == 0);
    setenv("UNISONO_PROFILE_DEPTH", "17", 1);
    setenv("UNISONO_PROFILE_MEMORY", "lots", 1);
    settings_read(&got, complain);
    CHECK(got.depth == 8 && got.memory == (size_t)32 << 20 && complaints == 2);
}

static int quotes_as(const char *text, const char *expected)
{
    char room[256];
    struct bytes bytes = {.at = room, .limit = sizeof room};
    bytes_quoted(&bytes, text);
    return bytes.used == strlen(expected) && memcmp(room, expected, bytes.used) == 0;
}

static void quoting(void)
{
    CHECK(quotes_as("plain", "\"plain\""));
    CHECK(quotes_as("a\"b\\c\n\x01", "\"a\\\"b\\\\c\\u000a\\u0001\""));
    CHECK(quotes_as("\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80", "\"\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80\""));
    CHECK(quotes_as("\xff\xc3", "\"??\""));                       /* no UTF-8 */
    CHECK(quotes_as("\xed\xa0\x80|\xc0\xaf", "\"\?\?\?|\?\?\"")); /* surrogates, overlong */
    CHECK(quotes_as("\xf4\x90\x80\x80", "\"\?\?\?\?\""));         /* beyond Unicode */
}

static void writing(void)
{
    char room[64];
    struct bytes bytes = {.at = room, .limit = sizeof room};
    size_t section = bytes_section(&bytes, "TEST");
    bytes_number(&bytes, INT64_MIN);
    bytes_section_end(&bytes, section);
    CHECK(bytes.used == 16 + 24 && memcmp(room, "TEST\0\0\0\0\x14\0\0\0\0\0\0\0-9223372036854775808\0\0\0\0", 40) == 0);
    bytes_put(&bytes, room, 24);
    CHECK(bytes.used == 64 && !bytes.full);
    bytes_text(&bytes, "x");
    CHECK(bytes.used == 64 && bytes.full);
}

/* This very function is in one of the modules, and the C library in another. */
static void modules(void)
{
    struct bytes bytes = bytes_create(1 << 20);
    modules_write(&bytes);
    bytes_put(&bytes, "", 1);
    char path[4096], *found;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    CHECK(length > 0 && bytes.at[0] == '[' && strstr(bytes.at, "libc") != NULL && strstr(bytes.at, "[stack]") == NULL);
    path[length > 0 ? length : 0] = '\0';
    found = strstr(bytes.at, path);
    CHECK(found != NULL);
    long base = 0, end = 0;
    if (found != NULL)
        CHECK(sscanf(found + length, "\",\"base\":%ld,\"end\":%ld}", &base, &end) == 2);
    long here = (long)(intptr_t)modules;
    CHECK(base < here && here < end);
    bytes_free(&bytes);
}

static void clocks(void)
{
    double ns_per_tick = 0;
    ticks_start();
    uint64_t start = ticks_now(), before = ticks_clock_ns();
    while (ticks_clock_ns() - before < 20000000)
        ;
    uint64_t ticks = ticks_between(start, ticks_now()), ns = ticks_elapsed_ns(&ns_per_tick);
    double measured = (double)ticks * ns_per_tick;
    CHECK(ns >= 20000000 && measured > 0.9 * 20000000 && measured <= 1.1 * (double)ns);
    CHECK(ticks_between(5, 3) == 0);
}

int main(void)
{
    filter();
    settings();
    quoting();
    writing();
    modules();
    clocks();
    return verdict();
}
