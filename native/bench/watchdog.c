#include "watchdog.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static char message[256];
static int message_rank;
static double message_seconds;

static void bark(int signal)
{
    (void)signal;
    ssize_t written = write(STDERR_FILENO, message, strlen(message));
    _exit(written < 0 ? WATCHDOG_STATUS + 1 : WATCHDOG_STATUS);
}

void watchdog_note(const char *what)
{
    snprintf(message, sizeof message, "unisono-bench: rank %d: hung: the deadline of %g s passed while %s\n",
             message_rank, message_seconds, what);
}

void watchdog_arm(int64_t nanoseconds, int rank, const char *what)
{
    message_rank = rank;
    message_seconds = (double)nanoseconds / 1e9;
    watchdog_note(what);
    struct sigaction action = {.sa_handler = bark};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {
        .it_value = {.tv_sec = nanoseconds / 1000000000, .tv_usec = nanoseconds / 1000 % 1000000}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void watchdog_disarm(void)
{
    struct itimerval timer = {0};
    setitimer(ITIMER_REAL, &timer, NULL);
}
