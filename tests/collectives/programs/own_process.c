/* own_process children|timer|place|refused: what a program may do with its own process after MPI_Init, with collectives before and after. It
 * starts children in every way, or is interrupted 2,000 times a second, or changes its directory, root, mask and environment, or is refused
 * (seccomp, as in containers) what reads other processes and asks for CPUs and counters. "right" at the end. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "every.h"

static volatile sig_atomic_t ticks;

static void tick(int number)
{
    (void)number;
    ticks = 1;
}

static void ended(pid_t child, int with)
{
    int status = -1;
    every_wrong += waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != with;
}

static void children(void)
{
    int seven = 0;
    pid_t child = fork();
    if (child == 0)
        exit(3);
    ended(child, 3);
    if ((child = fork()) == 0)
        _exit(4);
    ended(child, 4);
    if ((child = fork()) == 0)
        execlp("sh", "sh", "-c", "exit 5", NULL);
    ended(child, 5);
    every_wrong += system("case \"$LD_PRELOAD\" in *libunisono*) exit 1;; esac") != 0;
    FILE *said = popen("echo 7", "r");
    every_wrong += said == NULL || fscanf(said, "%d", &seven) != 1 || seven != 7 || pclose(said) != 0;
}

static void timer(long microseconds)
{
    const struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    const struct itimerval every_so_often = {{0, microseconds}, {0, microseconds}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every_so_often, NULL);
}

static void place(void)
{
    if (chdir("/") != 0)
        exit(77);
    umask(0777);
    clearenv();
}

static void refused(void)
{
    static const int calls[] = {SYS_process_vm_readv,  SYS_process_vm_writev, SYS_memfd_create, SYS_sched_getaffinity,
                                SYS_sched_setaffinity, SYS_perf_event_open,   SYS_kcmp,         SYS_ptrace,
                                SYS_get_mempolicy,     SYS_move_pages,        SYS_fallocate,    SYS_madvise};
    enum { CALLS = sizeof calls / sizeof *calls };
    struct sock_filter filter[CALLS + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    const struct sock_fprog program = {CALLS + 3, filter};
    for (int i = 0; i < CALLS; i++)
        filter[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], CALLS - i, 0);
    filter[CALLS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[CALLS + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        exit(77);
}

int main(int count, char **arguments)
{
    MPI_Comm before, after;
    int rank;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &before);
    every(MPI_COMM_WORLD, "the world before");
    const char *what = arguments[1];
    const int is_timer = strcmp(what, "timer") == 0;
    if (strcmp(what, "children") == 0)
        children();
    if (is_timer)
        timer(500);
    if (strcmp(what, "place") == 0)
        place();
    if (strcmp(what, "refused") == 0 && rank == 1)
        refused();
    every(MPI_COMM_WORLD, "the world");
    every(before, "made before");
    MPI_Comm_dup(before, &after);
    every(after, "made afterwards");
    if (is_timer) {
        timer(0);
        every_wrong += !ticks;
    }
    MPI_Comm_free(&after);
    MPI_Comm_free(&before);
    MPI_Allreduce(MPI_IN_PLACE, &every_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(every_wrong > 0 ? "wrong" : "right");
    MPI_Finalize();
    return 0;
}
