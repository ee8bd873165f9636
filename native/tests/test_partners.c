/* Who sends to whom: reading, the ring, and every pair once on either side. */
#include <string.h>

#include "../bench/partners.h"
#include "check.h"

static bool read_line(struct partners *partners, const char *line, struct problem *problem)
{
    struct command command;
    bool good = command_parse(&command, line, problem) && partners_read(partners, &command, problem) &&
                command_complete(&command, problem);
    command_free(&command);
    return good;
}

static void rings(int ranks, int neighbours)
{
    struct partners partners = {.count = 0};
    struct problem problem = {""};
    int targets[PARTNERS_MOST], sources[PARTNERS_MOST], sent, got;
    CHECK(partners_of(&partners, ranks - 1, ranks, targets, &sent, sources, &got, &problem));
    CHECK(sent == neighbours && got == neighbours && targets[0] == ranks - 2);
    CHECK(sources[sent - 1] == (sent == 1 ? ranks - 2 : 0));
}

static void pairs(void)
{
    struct partners partners;
    struct problem problem = {""};
    int targets[PARTNERS_MOST], sources[PARTNERS_MOST], sent, got;
    CHECK(read_line(&partners, "measure partners=0,2,2,0,0,2,1,0", &problem) && partners.count == 4);
    CHECK(partners_of(&partners, 0, 3, targets, &sent, sources, &got, &problem));
    CHECK(sent == 2 && targets[0] == 2 && targets[1] == 2 && got == 2 && sources[0] == 2 && sources[1] == 1);
    CHECK(partners_of(&partners, 1, 3, targets, &sent, sources, &got, &problem) && sent == 1 && got == 0);
    CHECK(!partners_of(&partners, 1, 2, targets, &sent, sources, &got, &problem));
    CHECK(strstr(problem.text, "there is no rank 2") != NULL);
}

static void refuses(const char *line, const char *because)
{
    struct partners partners;
    struct problem problem = {""};
    CHECK(!read_line(&partners, line, &problem) && strstr(problem.text, because) != NULL);
}

int main(void)
{
    char many[8192] = "measure partners=0,1";
    for (int i = 0; i < PARTNERS_MOST; i++)
        strcat(many, ",0,1");
    rings(2, 1);
    rings(3, 2);
    pairs();
    refuses("measure partners=", "'' is not a rank");
    refuses("measure partners=0,-1", "'-1' is not a rank");
    refuses("measure partners=0,1,2", "the last of 3 ranks is no pair");
    refuses(many, "more than 1024 numbers");
    return verdict();
}
