#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "output.h"
#include "record.h"

static struct {
    int number;
    const char *ended;
    bool crash; /* comes from the program's own code */
    bool installed;
    struct sigaction before;
} signals[] = {
    {.number = SIGTERM, .ended = "signal SIGTERM"},
    {.number = SIGINT, .ended = "signal SIGINT"},
    {.number = SIGHUP, .ended = "signal SIGHUP"},
    {.number = SIGQUIT, .ended = "signal SIGQUIT"},
    {.number = SIGXCPU, .ended = "signal SIGXCPU"},
    {.number = SIGUSR1, .ended = "signal SIGUSR1"},
    {.number = SIGUSR2, .ended = "signal SIGUSR2"},
    {.number = SIGSEGV, .ended = "signal SIGSEGV", .crash = true},
    {.number = SIGBUS, .ended = "signal SIGBUS", .crash = true},
    {.number = SIGFPE, .ended = "signal SIGFPE", .crash = true},
    {.number = SIGILL, .ended = "signal SIGILL", .crash = true},
    {.number = SIGABRT, .ended = "signal SIGABRT", .crash = true},
};
enum { SIGNALS = sizeof signals / sizeof *signals };

static pid_t home; /* a forked child has our handlers but no part */

/* Let happen what would have happened without us. */
static void pass_on(int i, siginfo_t *info, void *context)
{
    struct sigaction *before = &signals[i].before;
    bool handler =
        (before->sa_flags & SA_SIGINFO) != 0 || (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN);
    if (handler && !signals[i].crash) {
        struct sigaction now = *before;
        if ((before->sa_flags & SA_RESETHAND) != 0)
            *before = (struct sigaction){.sa_handler = SIG_DFL};
        if ((now.sa_flags & SA_SIGINFO) != 0)
            now.sa_sigaction(signals[i].number, info, context);
        else
            now.sa_handler(signals[i].number);
        return;
    }
    /* The default action, or a crash: the instruction that crashed does so again, and what was raised is raised again. */
    sigaction(signals[i].number, before, NULL);
    if (!signals[i].crash || info->si_code <= 0)
        raise(signals[i].number);
}

static void handle(int number, siginfo_t *info, void *context)
{
    int error = errno;
    for (int i = 0; i < SIGNALS; i++) {
        if (signals[i].number != number)
            continue;
        if (getpid() == home)
            output_own(signals[i].ended);
        errno = error;
        pass_on(i, info, context);
    }
    errno = error;
}

void signals_start(void)
{
    home = getpid();
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
        struct sigaction *before = &signals[i].before;
        sigemptyset(&ours.sa_mask);
        if (sigaction(signals[i].number, NULL, before) != 0)
            continue;
        bool plain = (before->sa_flags & SA_SIGINFO) == 0;
        bool handled = !plain || (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN);
        if (plain && before->sa_handler == SIG_IGN)
            continue;
        /* Where the program deals with a signal itself it will go on, or end by its own means. */
        if (handled && !signals[i].crash)
            continue;
        signals[i].installed = sigaction(signals[i].number, &ours, NULL) == 0;
    }
}

void signals_end(void)
{
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction now;
        if (!signals[i].installed || sigaction(signals[i].number, NULL, &now) != 0)
            continue;
        if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == handle)
            sigaction(signals[i].number, &signals[i].before, NULL);
        signals[i].installed = false;
    }
}
