/* Many communicators at a time, on each of them collectives of several sizes, then a window of the MPI library's own: all
 * must be right however little there is to share.
 *
 *     room COMMUNICATORS [deny | yama | named | nameless]
 *
 * deny: the kernel lets no rank read another's memory (seccomp). yama: only one that has permitted it, as Yama does; says
 * whether libunisono ever permitted it, whether it did behind MPI_Init, and at the end. named: libunisono gets no file without a name in /dev/shm. nameless: none
 * with a name. Prints "right". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <mpi.h>

enum { LONG = 16384 };

static int rank, ranks, wrong, yama, named, nameless, ever, started;

static void deny(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        exit(77);
}

/* Stand-ins for what Yama would do to libunisono: a file says that a process has permitted it. The MPI library asks for
 * permission by itself, which would hide what we do. */
static int is_ours(const void *caller)
{
    Dl_info from;
    return dladdr(caller, &from) != 0 && strstr(from.dli_fname, "libunisono") != NULL;
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, int) : 0;
    va_end(rest);
    int makes_nameless = (flags & O_TMPFILE) == O_TMPFILE, makes = (flags & O_CREAT) != 0;
    if (((named && makes_nameless) || (nameless && makes)) && is_ours(__builtin_return_address(0))) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void name_of(pid_t process, char *name, size_t bytes)
{
    snprintf(name, bytes, "permitted.%ld", (long)process);
}

int prctl(int option, ...)
{
    va_list rest;
    unsigned long argument[4];
    va_start(rest, option);
    for (int i = 0; i < 4; i++)
        argument[i] = va_arg(rest, unsigned long);
    va_end(rest);
    if (option != PR_SET_PTRACER || !yama || !is_ours(__builtin_return_address(0)))
        return (int)syscall(SYS_prctl, option, argument[0], argument[1], argument[2], argument[3]);
    char name[64];
    name_of(getpid(), name, sizeof name);
    if (argument[0] == 0)
        return remove(name) == 0 ? 0 : -1;
    ever = 1;
    FILE *file = fopen(name, "w");
    return file != NULL ? fclose(file) : -1;
}

static int permits(pid_t process)
{
    char name[64];
    name_of(process, name, sizeof name);
    return access(name, F_OK) == 0;
}

static int forbidden(pid_t process, const void *caller)
{
    return yama && is_ours(caller) && process != getpid() && !permits(process);
}

ssize_t process_vm_readv(pid_t process, const struct iovec *here, unsigned long heres, const struct iovec *there,
                         unsigned long theres, unsigned long flags)
{
    int no = forbidden(process, __builtin_return_address(0));
    errno = EPERM;
    return no ? -1 : syscall(SYS_process_vm_readv, process, here, heres, there, theres, flags);
}

ssize_t process_vm_writev(pid_t process, const struct iovec *here, unsigned long heres, const struct iovec *there,
                          unsigned long theres, unsigned long flags)
{
    int no = forbidden(process, __builtin_return_address(0));
    errno = EPERM;
    return no ? -1 : syscall(SYS_process_vm_writev, process, here, heres, there, theres, flags);
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *);
    *(void **)&real = dlsym(RTLD_NEXT, "fopen");
    if (yama && strcmp(path, "/proc/sys/kernel/yama/ptrace_scope") == 0) {
        static char level[] = "1";
        return fmemopen(level, 1, "r");
    }
    return real(path, mode);
}

static void check(int good)
{
    wrong += !good;
}

static void work(MPI_Comm comm, int round)
{
    static int data[LONG], other[LONG];
    int me, one[2] = {round, 1}, sum[2];
    MPI_Comm_rank(comm, &me);
    MPI_Allreduce(one, sum, 2, MPI_INT, MPI_SUM, comm);
    check(sum[0] == ranks * round && sum[1] == ranks);
    for (int i = 0; i < LONG; i++)
        data[i] = me == round % ranks ? i + round : -1;
    MPI_Bcast(data, LONG, MPI_INT, round % ranks, comm);
    for (int i = 0; i < LONG; i++)
        check(data[i] == i + round);
    MPI_Allreduce(data, other, LONG / 4, MPI_INT, MPI_SUM, comm);
    check(other[0] == ranks * round && other[LONG / 4 - 1] == ranks * (round + LONG / 4 - 1));
    for (int i = 0; i < ranks; i++)
        data[i] = me * ranks + i;
    MPI_Alltoall(data, 1, MPI_INT, other, 1, MPI_INT, comm);
    for (int i = 0; i < ranks; i++)
        check(other[i] == i * ranks + me);
    MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    int count = atoi(argv[1]), all;
    yama = argc > 2 && strcmp(argv[2], "yama") == 0;
    named = argc > 2 && strcmp(argv[2], "named") == 0;
    nameless = argc > 2 && strcmp(argv[2], "nameless") == 0;
    if (argc > 2 && strcmp(argv[2], "deny") == 0)
        deny();
    MPI_Init(&argc, &argv);
    started = permits(getpid());
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm *comms = malloc((size_t)count * sizeof *comms);
    for (int i = 0; i < count; i++)
        if (i % 10 == 9)
            MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[i]);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < count; i++)
            work(comms[i], round + i);
    MPI_Win window;
    char *memory;
    MPI_Win_allocate_shared(1 << 18, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 1, 1 << 18);
    MPI_Win_free(&window);
    for (int i = 0; i < count; i += 2)
        MPI_Comm_free(&comms[i]);
    for (int i = 1; i < count; i += 2)
        work(comms[i], i);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && yama)
        printf("permitted %d %d %d\n", ever, started, permits(getpid()));
    if (rank == 0)
        puts(all == 0 ? "right" : "wrong");
    free(comms);
    MPI_Finalize();
    return 0;
}
