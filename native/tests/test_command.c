/* Parsing what the driver says: right lines, wrong lines, and a great many random ones. */
#include <stdlib.h>
#include <string.h>

#include "../bench/command.h"
#include "../bench/pattern.h"
#include "check.h"

static void right_lines(void)
{
    struct command command;
    struct problem problem = {""};
    const int64_t fallback = 7;
    int64_t value = 0;
    int numbers[3], count = 0;
    CHECK(command_parse(&command, "  measure coll=bcast\tbytes=1024 ids=0,2,1 empty= x=a=b\r\n", &problem));
    CHECK(strcmp(command.verb, "measure") == 0);
    CHECK(strcmp(command_text(&command, "coll"), "bcast") == 0);
    CHECK(strcmp(command_text(&command, "x"), "a=b") == 0);
    CHECK(strcmp(command_text(&command, "empty"), "") == 0);
    CHECK(command_text(&command, "absent") == NULL);
    CHECK(command_integer(&command, "bytes", 0, 1024, NULL, &value, &problem) && value == 1024);
    CHECK(command_integer(&command, "absent", 0, 1, &fallback, &value, &problem) && value == 7);
    CHECK(!command_complete(&command, &problem));
    problem.text[0] = '\0';
    CHECK(command_numbers(&command, "ids", 9, numbers, 3, &count, &problem) && count == 3 && numbers[1] == 2);
    CHECK(command_complete(&command, &problem));
    command_free(&command);
}

static void refuses_line(const char *line, const char *because)
{
    struct command command;
    struct problem problem = {""};
    CHECK(!command_parse(&command, line, &problem));
    CHECK(strstr(problem.text, because) != NULL);
    command_free(&command);
}

static void refuses_integer(const char *line, const char *because)
{
    struct command command;
    struct problem problem = {""};
    int64_t value;
    CHECK(command_parse(&command, line, &problem));
    CHECK(!command_integer(&command, "n", -5, 100, NULL, &value, &problem));
    CHECK(strstr(problem.text, because) != NULL);
    command_free(&command);
}

static void refuses_numbers(const char *line)
{
    struct command command;
    struct problem problem = {""};
    int numbers[2], count;
    CHECK(command_parse(&command, line, &problem));
    CHECK(!command_numbers(&command, "n", 9, numbers, 2, &count, &problem));
    CHECK(problem_any(&problem));
    command_free(&command);
}

static void wrong_lines(void)
{
    refuses_line("", "empty");
    refuses_line(" \t\n", "empty");
    refuses_line("Measure", "not a command");
    refuses_line("a=b", "not a command");
    refuses_line("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", "not a command");
    refuses_line("limits bytes", "not key=value");
    refuses_line("limits =3", "not key=value");
    refuses_line("limits a=1 b=2 a=3", "twice");
    refuses_integer("x n=101", "-5 to 100");
    refuses_integer("x n=-6", "-5 to 100");
    refuses_integer("x n=", "whole number");
    refuses_integer("x n=1.5", "whole number");
    refuses_integer("x n=0x10", "whole number");
    refuses_integer("x n=+1", "whole number");
    refuses_integer("x n=99999999999999999999", "whole number");
    refuses_integer("x m=1", "missing");
    refuses_numbers("x n=");
    refuses_numbers("x n=1,");
    refuses_numbers("x n=,1");
    refuses_numbers("x n=1,1");
    refuses_numbers("x n=1,2,3");
    refuses_numbers("x n=10");
    refuses_numbers("x n=-1");
    refuses_numbers("x n=11111111111111111111111111");
    refuses_numbers("x m=1");
}

static void too_many_pairs(void)
{
    char line[32 * (COMMAND_PAIRS + 2)] = "define";
    for (int i = 0; i <= COMMAND_PAIRS; i++)
        snprintf(line + strlen(line), 32, " k%d=%d", i, i);
    refuses_line(line, "more than");
}

static void prefixes(void)
{
    struct command command;
    struct problem problem = {""};
    int position = 0;
    CHECK(command_parse(&command, "define id=1 var.a=x other=2 var.b=y", &problem));
    CHECK(strcmp(command_next(&command, "var.", &position)->value, "x") == 0);
    CHECK(strcmp(command_next(&command, "var.", &position)->key, "var.b") == 0);
    CHECK(command_next(&command, "var.", &position) == NULL);
    command_free(&command);
}

/* Whatever is said, it is either a command whose parts are parts of the line, or a sentence says why not. */
static void random_lines(void)
{
    static const char letters[] = "aaabmz_ ==== \t,,0123456789-.\"\\\x01\xff\n";
    for (uint64_t seed = 0; seed < 200000; seed++) {
        char line[64];
        size_t length = pattern_mix(seed) % (sizeof line - 1);
        for (size_t i = 0; i < length; i++)
            line[i] = letters[pattern_mix(seed * 64 + i) % (sizeof letters - 1)];
        line[length] = '\0';
        struct command command;
        struct problem problem = {""};
        bool good = command_parse(&command, line, &problem);
        CHECK(good != problem_any(&problem));
        CHECK(!good || strstr(line, command.verb) != NULL);
        for (int i = 0; good && i < command.count; i++) {
            int numbers[4], count;
            int64_t value;
            CHECK(command.pairs[i].key[0] != '\0' && strpbrk(command.pairs[i].key, "= \t\r\n") == NULL);
            CHECK(strpbrk(command.pairs[i].value, " \t\r\n") == NULL);
            problem.text[0] = '\0';
            if (command_numbers(&command, command.pairs[i].key, 99, numbers, 4, &count, &problem))
                CHECK(count >= 1 && count <= 4 && numbers[0] >= 0 && numbers[0] <= 99);
            problem.text[0] = '\0';
            if (command_integer(&command, command.pairs[i].key, 0, 50, NULL, &value, &problem))
                CHECK(value >= 0 && value <= 50);
        }
        command_free(&command);
    }
}

int main(void)
{
    right_lines();
    wrong_lines();
    too_many_pairs();
    prefixes();
    random_lines();
    return verdict();
}
