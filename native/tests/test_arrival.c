/* How late ranks come: read, spread over ranks, and drawn. */
#include <string.h>

#include "../bench/arrival.h"
#include "../bench/sweep.h"
#include "check.h"

static bool read_line(struct arrival *arrival, const char *line, struct problem *problem)
{
    struct command command;
    CHECK(command_parse(&command, line, problem));
    bool good = arrival_read(arrival, &command, problem) && command_complete(&command, problem);
    command_free(&command);
    return good;
}

static void nobody_late(void)
{
    struct arrival arrival;
    struct problem problem = {""};
    CHECK(read_line(&arrival, "measure", &problem));
    CHECK(!arrival_any(&arrival) && arrival_of(&arrival, 3, 7, 11) == 0 && arrival_last(&arrival, 7, 11) == 0);
}

static void each_its_own(void)
{
    struct arrival arrival;
    struct problem problem = {""};
    CHECK(read_line(&arrival, "measure late_ns=0,500,20", &problem));
    CHECK(arrival_any(&arrival) && arrival_of(&arrival, 1, 3, 0) == 500 && arrival_last(&arrival, 3, 9) == 500);
    /* more ranks than numbers: neighbours share one; fewer: some are left out */
    CHECK(arrival_of(&arrival, 1, 6, 0) == 0 && arrival_of(&arrival, 2, 6, 0) == 500);
    CHECK(arrival_of(&arrival, 5, 6, 0) == 20 && arrival_of(&arrival, 1, 2, 0) == 500);
}

static void drawn_anew(void)
{
    struct arrival arrival, other;
    struct problem problem = {""};
    int count[4] = {0}, differ = 0;
    CHECK(read_line(&arrival, "measure late_ns=0,0,0,100 late_drawn_ns=1000 seed=5", &problem));
    CHECK(read_line(&other, "measure late_ns=0,0,0,100 late_drawn_ns=1000 seed=6", &problem));
    for (uint64_t repetition = 0; repetition < 4000; repetition++) {
        int drawn = 0;
        for (int rank = 0; rank < 4; rank++) {
            int64_t late = arrival_of(&arrival, rank, 4, repetition);
            CHECK(late == arrival_of(&arrival, rank, 4, repetition));
            drawn += late >= 1000;
            count[rank] += late >= 1000;
            differ += late != arrival_of(&other, rank, 4, repetition);
        }
        int64_t last = arrival_last(&arrival, 4, repetition);
        CHECK(drawn == 1 && (last == 1000 || last == 1100));
    }
    for (int rank = 0; rank < 4; rank++)
        CHECK(count[rank] > 800 && count[rank] < 1200);
    CHECK(differ > 0);
}

static void refuses(const char *line, const char *because)
{
    struct arrival arrival;
    struct problem problem = {""};
    CHECK(!read_line(&arrival, line, &problem) && strstr(problem.text, because) != NULL);
}

static void swept_memory_grows(void)
{
    struct sweep sweep = {0};
    struct problem problem = {""};
    sweep_caches(&sweep);
    CHECK(sweep_prepare(&sweep, 10000, &problem) && sweep.mapped == 10000 && sweep.base[9999] == 1);
    CHECK(sweep_prepare(&sweep, 5000, &problem) && sweep.mapped == 10000);
    sweep_caches(&sweep);
    CHECK(sweep_prepare(&sweep, 20000, &problem) && sweep.mapped == 20000 && sweep.base[19999] == 1);
    sweep_free(&sweep);
    CHECK(sweep.mapped == 0);
}

int main(void)
{
    char many[4096] = "measure late_ns=0";
    for (int i = 0; i < ARRIVAL_MOST; i++)
        strcat(many, ",1");
    nobody_late();
    each_its_own();
    drawn_anew();
    swept_memory_grows();
    refuses("measure late_ns=", "late_ns: '' is not");
    refuses("measure late_ns=1,-1", "is not a whole number");
    refuses("measure late_ns=99999999999", "is not a whole number");
    refuses("measure late_drawn_ns=x", "late_drawn_ns=x");
    refuses(many, "more than 256 numbers");
    return verdict();
}
