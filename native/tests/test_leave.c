/* Ranks that leave together: processes for ranks, and one with a socket to each for the launcher that speaks PMI 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "keyspace.h"
#include "leave.h"

enum { RANKS = 4 };

static int turns;

static void count(void)
{
    turns++;
}

static void which_library_needs_it(void)
{
    static const char *const needs[] = {"MPICH Version:\t4.0.2\nMPICH Device:\tch4:ucx\n",
                                        "MPICH Version:      3.4.3\nMPICH Device:       ch4:ucx ofi\n",
                                        "MPICH Version:\t4.1.2\nMPICH ABI:\t15:1:3\nMPICH Device:\tch4:ofi,ch4:ucx\n"};
    static const char *const not[] = {
        "MPICH Version:\t4.2.0\nMPICH Device:\tch4:ucx\n",
        "MPICH Version:\t5.0.2\nMPICH Device:\tch4:ucx ofi\n",
        "MPICH Version:\t4.0.2\nMPICH Device:\tch4:ofi\nMPICH configure:\t--with-device=ch4:ucx\n",
        "MPICH Version:\t4.0.2\n",
        "Open MPI v4.1.4, package: Debian OpenMPI",
        "Intel(R) MPI Library 2021.18 for Linux* OS",
        ""};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        CHECK(leave_is_needed(needs[i]));
    for (size_t i = 0; i < sizeof not / sizeof *not; i++)
        CHECK(!leave_is_needed(not[i]));
}

/* One rank; the last comes late. Exit status 0: it passed two fences, and made progress at the first while it waited. */
static void be_rank(int rank, int file)
{
    char text[16];
    snprintf(text, sizeof text, "%d", file);
    setenv("PMI_FD", text, 1);
    if (rank == RANKS - 1)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    bool good = keyspace_pmi_fence(count) && turns > (rank == RANKS - 1 ? 0 : 1);
    int before = turns;
    good = good && keyspace_pmi_fence(NULL) && turns == before;
    _exit(good ? 0 : 1);
}

static bool asks(int file)
{
    char line[64];
    size_t used = 0;
    while (used < sizeof line - 1 && read(file, line + used, 1) == 1 && line[used] != '\n')
        used++;
    line[used] = '\0';
    return strcmp(line, "cmd=barrier_in") == 0;
}

/* The launcher answers `fences` times, then ends. How many ranks were content. */
static int launch(int fences)
{
    int pair[RANKS][2], content = 0;
    for (int i = 0; i < RANKS; i++) {
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair[i]) == 0);
        if (fork() == 0) {
            for (int j = 0; j <= i; j++)
                close(pair[j][0]);
            be_rank(i, pair[i][1]);
        }
        close(pair[i][1]);
    }
    for (int fence = 0; fence < fences; fence++) {
        static const char *const answers[] = {"cmd=barrier_out\n", "cmd=barrier_out rc=0\n"};
        const char *answer = answers[fence % 2]; /* as Hydra and as Slurm say it */
        for (int i = 0; i < RANKS; i++)
            CHECK(asks(pair[i][0]));
        for (int i = 0; i < RANKS; i++)
            CHECK(write(pair[i][0], answer, strlen(answer)) == (ssize_t)strlen(answer));
    }
    for (int i = 0; i < RANKS; i++)
        close(pair[i][0]);
    for (int i = 0, status; i < RANKS; i++)
        content += wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return content;
}

int main(void)
{
    unsetenv("PMI_FD");
    CHECK(!keyspace_pmi_fence(count) && turns == 0); /* of another launcher */
    which_library_needs_it();
    CHECK(launch(2) == RANKS);
    CHECK(launch(1) == 0); /* nobody waits for a launcher that is gone */
    return verdict();
}
