#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "part.h"
#include "record.h"

enum { CHUNK = 1 << 20, TAG = 1 };
static const char magic[8] = {'U', 'N', 'I', 'S', 'O', 'N', 'O', 1};

/* 0, or the errno of what failed. */
static int write_all(int file, const void *data, size_t length)
{
    const char *at = data;
    while (length > 0) {
        ssize_t wrote = write(file, at, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? errno : EIO;
        at += wrote;
        length -= (size_t)wrote;
    }
    return 0;
}

/* Beyond the limit on the size of files a write fails, but the signal that comes with it would end the program. */
static int write_unharmed(int file, const void *data, size_t length)
{
    sigset_t limit, before;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    const int error = write_all(file, data, length);
    if (error == EFBIG && sigismember(&before, SIGXFSZ) == 0)
        (void)sigtimedwait(&limit, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int write_part(int file, const struct bytes *part)
{
    if (part->at == NULL)
        return ENOMEM;
    const int error = write_unharmed(file, magic, sizeof magic);
    return error != 0 ? error : write_unharmed(file, part->at, part->used);
}

/* One line on standard error, without stdio; src/unisono/profile/diagnose.py reads it. */
static void say_failed(const char *path, int error)
{
    static char line[PATH_MAX + 128];
    struct bytes text = {.at = line, .limit = sizeof line};
    bytes_text(&text, "unisono: ");
    bytes_text(&text, path);
    bytes_text(&text, error == ENOSPC   ? ": no space left for the profile\n"
                      : error == EDQUOT ? ": no space left for the profile within the quota\n"
                      : error == EFBIG  ? ": the profile is larger than files may be (ulimit -f)\n"
                      : error == ENOMEM ? ": no memory to write the profile\n"
                      : error == EACCES ? ": no permission to write the profile\n"
                      : error == ENOENT ? ": no such directory to write the profile to\n"
                                        : ": the profile cannot be written\n");
    (void)!write(STDERR_FILENO, text.at, text.used);
}

static int open_new(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

/* PREFIX, "" or ".rankN", and an ending; `path` is PATH_MAX + 64 long. */
static void name_file(char *path, int rank, const char *ending)
{
    struct bytes text = {.at = path, .limit = PATH_MAX + 64};
    bytes_text(&text, record.settings.prefix);
    if (rank >= 0) {
        bytes_text(&text, ".rank");
        bytes_number(&text, rank);
    }
    bytes_text(&text, ending);
    bytes_put(&text, "", 1);
}

/* A file appears under its name when it is complete; `error`: of writing it. */
static void finish(int file, int error, const char *unfinished, const char *path)
{
    if (close(file) != 0 && error == 0)
        error = errno;
    if (error == 0 && rename(unfinished, path) != 0)
        error = errno;
    if (error != 0) {
        say_failed(path, error);
        unlink(unfinished);
    }
}

/* Of this rank's own part; not on the stack, since a handler's may be small. */
static char own_path[PATH_MAX + 64], own_unfinished[PATH_MAX + 64];

void output_own(const char *ended)
{
    static bool busy; /* another thread may crash as well */
    if (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
        return;
    struct bytes part = part_write(ended);
    name_file(own_path, comms.rank, ".raw");
    name_file(own_unfinished, comms.rank, ".raw.unfinished");
    int file = open_new(own_unfinished);
    if (file < 0)
        say_failed(own_path, errno);
    else
        finish(file, write_part(file, &part), own_unfinished, own_path);
    bytes_free(&part);
    __atomic_clear(&busy, __ATOMIC_RELEASE);
}

/* The others' parts, one rank after the other, in pieces that any library can send. */
static int receive(int file, int rank, char *chunk, int error)
{
    uint64_t left;
    PMPI_Recv(&left, 1, MPI_UINT64_T, rank, TAG, comms.own, MPI_STATUS_IGNORE);
    while (left > 0) {
        int length = left < CHUNK ? (int)left : CHUNK;
        PMPI_Recv(chunk, length, MPI_BYTE, rank, TAG, comms.own, MPI_STATUS_IGNORE);
        error = error != 0 ? error : write_unharmed(file, chunk, (size_t)length);
        left -= (uint64_t)length;
    }
    return error;
}

static void send(const struct bytes *part)
{
    uint64_t length = part->used;
    PMPI_Send(&length, 1, MPI_UINT64_T, 0, TAG, comms.own);
    for (uint64_t sent = 0; sent < length; sent += CHUNK) {
        int piece = length - sent < CHUNK ? (int)(length - sent) : CHUNK;
        PMPI_Send(part->at + sent, piece, MPI_BYTE, 0, TAG, comms.own);
    }
}

static void collect(int file, const struct bytes *part, const char *unfinished, const char *path)
{
    struct bytes chunk = bytes_create(CHUNK);
    int error = write_part(file, part);
    for (int rank = 1; rank < comms.ranks; rank++)
        error = receive(file, rank, chunk.at, error);
    bytes_free(&chunk);
    finish(file, error, unfinished, path);
}

void output_all(void)
{
    char path[PATH_MAX + 64], unfinished[PATH_MAX + 64];
    struct bytes part = part_write("finalize");
    int file = -1, possible = 1;
    if (own_path[0] != '\0')
        unlink(own_path); /* of a crash that the program survived */
    name_file(path, NOT_KNOWN, ".raw");
    name_file(unfinished, NOT_KNOWN, ".raw.unfinished");
    if (comms.rank == 0) {
        file = open_new(unfinished);
        possible = file >= 0;
        if (!possible)
            say_failed(path, errno);
    }
    PMPI_Bcast(&possible, 1, MPI_INT, 0, comms.own);
    if (possible && comms.rank == 0)
        collect(file, &part, unfinished, path);
    else if (possible)
        send(&part);
    bytes_free(&part);
}
