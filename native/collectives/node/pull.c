#include "pull.h"

#include <stdlib.h>
#include <string.h>

#include "../collectives.h"
#include "../failure.h"
#include "agreed.h"
#include "attach.h"
#include "handed.h"

bool pull_must_permit;

#ifdef UNISONO_SIMULATED

/* Ranks of a simulation are one process: there is nothing to be shown by copying at once. */
int pull_start(MPI_Comm near)
{
    (void)near;
    return MPI_SUCCESS;
}

void pull_end(void)
{
}

void pull_permit(void)
{
}

bool pull_possible(void)
{
    return false;
}

double pull_slower(void)
{
    return 0;
}

double pull_call(void)
{
    return 0;
}

int pull_process(int world_rank)
{
    (void)world_rank;
    return 0;
}

int pull_read(const struct pull *pull, int local, uint64_t remote, void *to, int64_t bytes)
{
    (void)pull, (void)local, (void)remote, (void)to, (void)bytes;
    return MPI_ERR_OTHER;
}

int pull_write(const struct pull *pull, int local, uint64_t remote, const void *from, int64_t bytes)
{
    (void)pull, (void)local, (void)remote, (void)from, (void)bytes;
    return MPI_ERR_OTHER;
}

void pull_costs(struct costs *costs)
{
    (void)costs;
}

void pull_heed_measured(bool heed)
{
    (void)heed;
}

#else

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif

/* What a rank says of itself. The others read `word` out of its memory and write their part of `answers`: a process of
   the same number in another PID namespace would not have them there. */
struct offer {
    int64_t process, rank; /* rank of MPI_COMM_WORLD, ascending */
    uint64_t word_at, word;
    uint64_t answers_at; /* one word for each rank of the machine, which writes there the word it has read */
};

/* The ranks of this machine, where it works. */
static struct found {
    int rank, process;
} *found;
static int found_ranks;
static struct measured {
    double slower, call;
} measured;
static bool heeds_measured = true;

/* One system call moves at most so many bytes (MAX_RW_COUNT of the kernel is 2 GiB less a page). */
static const int64_t longest = INT64_C(1) << 30;

typedef ssize_t transfer(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
                         unsigned long);

/* The kernel may stop early, at a fault or a signal: what is left is asked for again, until it says why. That it is not permitted
 * any more is no failure of the other rank, which then does it itself. Bytes that are left. */
static int64_t move(transfer *call, const struct pull *pull, int local, uint64_t remote, char *here, int64_t bytes)
{
    if (bytes > 0 && !failure_reach(pull->failure))
        return bytes;
    ssize_t moved = 0;
    while (bytes > 0) {
        size_t want = (size_t)(bytes < longest ? bytes : longest);
        struct iovec mine = {here, want}, other = {(void *)(uintptr_t)remote, want};
        moved = call(pull->process[local], &mine, 1, &other, 1, 0);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            break;
        here += moved, remote += (uint64_t)moved, bytes -= moved;
    }
    int error = errno;
    failure_reached(pull->failure);
    if (moved < 0 && error == ESRCH)
        failure_died(pull->failure);
    return bytes;
}

int pull_read(const struct pull *pull, int local, uint64_t remote, void *to, int64_t bytes)
{
    if (local == pull->local && bytes > 0)
        memcpy(to, (const void *)(uintptr_t)remote, (size_t)bytes);
    if (local == pull->local)
        return MPI_SUCCESS;
    const int64_t there = attach_read(pull->process[local], remote, to, bytes);
    const int64_t left =
        move(process_vm_readv, pull, local, remote + (uint64_t)there, (char *)to + there, bytes - there);
    const int64_t at = bytes - left;
    const bool good = left <= 0 || handed_read(pull->failure, local, remote + (uint64_t)at, (char *)to + at, left);
    return good ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int pull_write(const struct pull *pull, int local, uint64_t remote, const void *from, int64_t bytes)
{
    if (local == pull->local && bytes > 0)
        memcpy((void *)(uintptr_t)remote, from, (size_t)bytes);
    if (local == pull->local)
        return MPI_SUCCESS;
    char *here = (char *)(uintptr_t)from;
    const int64_t there = attach_write(pull->process[local], remote, here, bytes);
    const int64_t left = move(process_vm_writev, pull, local, remote + (uint64_t)there, here + there, bytes - there);
    const int64_t at = bytes - left;
    const bool good = left <= 0 || handed_write(pull->failure, local, remote + (uint64_t)at, here + at, left);
    return good ? MPI_SUCCESS : MPI_ERR_OTHER;
}

/* Reads every other's word and writes it into its answers. */
static bool probe(const struct pull *pull, const struct offer *offers, int ranks)
{
    bool good = true;
    for (int i = 0; i < ranks && good; i++) {
        uint64_t word = 0, answer_at = offers[i].answers_at + (uint64_t)pull->local * sizeof word;
        good = pull_read(pull, i, offers[i].word_at, &word, sizeof word) == MPI_SUCCESS && word == offers[i].word &&
               pull_write(pull, i, answer_at, &word, sizeof word) == MPI_SUCCESS;
    }
    return good;
}

/* In steps that all ranks take together: everybody has read and written; everybody was answered. */
static bool works(const struct pull *pull, MPI_Comm near, const struct offer *offers, const uint64_t *answers,
                  int ranks)
{
    bool good = agreed(near, probe(pull, offers, ranks));
    for (int i = 0; i < ranks && good; i++)
        good = ((const volatile uint64_t *)answers)[i] == offers[pull->local].word;
    return agreed(near, good);
}

/* Yama's level at which a process may permit others to read its memory. */
static bool may_be_permitted(void)
{
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "r");
    int level = file != NULL ? fgetc(file) : EOF;
    if (file != NULL)
        fclose(file);
    return level == '1';
}

/* Anybody of the same user; or, as it was, a parent alone. */
static bool permit(bool all)
{
    return prctl(PR_SET_PTRACER, all ? -1L : 0L, 0L, 0L, 0L) == 0;
}

void pull_permit(void)
{
    permit(true);
    pull_must_permit = false;
}

void pull_withdraw(void)
{
    permit(false);
    pull_must_permit = true;
}

/* Seconds, of the first rank, to read the second's `remote` or (`remote` 0) to copy its own. */
static double seconds_of(const struct pull *pull, uint64_t remote, char *room, int64_t bytes)
{
    enum { ROUNDS = 6 };
    double least = 1;
    for (int i = 0; i < ROUNDS; i++) {
        const double start = PMPI_Wtime();
        if (remote == 0)
            memcpy(room, room + bytes, (size_t)bytes);
        else if (pull_read(pull, 1, remote, room, bytes) != MPI_SUCCESS)
            return 0;
        const double seconds = PMPI_Wtime() - start;
        least = seconds < least ? seconds : least;
    }
    return least;
}

/* One rank alone: where all read at once and share CPUs, as they may, each would be as quick as it has luck. */
static void measure(const struct pull *pull, MPI_Comm near, int ranks)
{
    const int64_t bytes = 512 << 10;
    char *room = pull->local < 2 && ranks > 1 ? malloc(2 * (size_t)bytes) : NULL;
    uint64_t address = (uint64_t)(uintptr_t)room;
    if (room != NULL)
        memset(room, 1, 2 * (size_t)bytes);
    measured = (struct measured){0, 0};
    if (ranks > 1 && PMPI_Bcast(&address, 1, MPI_UINT64_T, 1, near) == MPI_SUCCESS) {
        struct measured found = {0, 0};
        if (pull->local == 0 && room != NULL && address != 0) {
            const double copied = seconds_of(pull, 0, room, bytes), read = seconds_of(pull, address, room, bytes);
            found.slower = copied > 0 ? read / copied : 0;
            found.call = seconds_of(pull, address, room, 8);
        }
        if (PMPI_Bcast(&found, 2, MPI_DOUBLE, 0, near) == MPI_SUCCESS) /* until then the second rank's memory is read */
            measured = found;
    }
    free(room);
}

/* As things are; else, where they may be permitted, with permission, which is taken back. */
static bool try(const struct pull *pull, MPI_Comm near, const struct offer *offers, const uint64_t *answers, int ranks)
{
    if (works(pull, near, offers, answers, ranks)) {
        attach_start(near, pull->process);
        measure(pull, near, ranks);
        return true;
    }
    if (!agreed(near, may_be_permitted()))
        return false;
    pull_must_permit = agreed(near, permit(true)) && works(pull, near, offers, answers, ranks);
    if (pull_must_permit) {
        attach_start(near, pull->process);
        measure(pull, near, ranks);
    }
    permit(false);
    return pull_must_permit;
}

/* What there is room for on all ranks: offers, answers (the last one is the word), processes. */
struct room {
    struct offer *offers;
    uint64_t *answers;
    int *process;
    struct found *found;
};

static void meet(struct room *room, MPI_Comm near, int rank, int ranks)
{
    volatile uint64_t *word = &room->answers[ranks];
    int world;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    *word = (uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(uintptr_t)room->answers;
    struct offer mine = {getpid(), world, (uint64_t)(uintptr_t)word, *word, (uint64_t)(uintptr_t)room->answers};
    if (PMPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, room->offers, (int)sizeof mine, MPI_BYTE, near) !=
        MPI_SUCCESS)
        return;
    for (int i = 0; i < ranks; i++) {
        room->process[i] = (int)room->offers[i].process;
        room->found[i] = (struct found){(int)room->offers[i].rank, room->process[i]};
    }
    const struct pull pull = {.local = rank, .process = room->process};
    if (!try(&pull, near, room->offers, room->answers, ranks))
        return;
    found = room->found;
    found_ranks = ranks;
    room->found = NULL;
}

int pull_start(MPI_Comm near)
{
    int rank, ranks;
    PMPI_Comm_size(near, &ranks);
    PMPI_Comm_rank(near, &rank);
    size_t count = (size_t)ranks;
    struct room room = {calloc(count, sizeof *room.offers), calloc(count + 1, sizeof *room.answers),
                        calloc(count, sizeof *room.process), calloc(count, sizeof *room.found)};
    if (agreed(near, room.offers != NULL && room.answers != NULL && room.process != NULL && room.found != NULL))
        meet(&room, near, rank, ranks);
    free(room.offers);
    free(room.answers);
    free(room.process);
    free(room.found);
    return MPI_SUCCESS;
}

void pull_end(void)
{
    attach_end();
    free(found);
    found = NULL;
    found_ranks = 0;
    pull_must_permit = false;
}

bool pull_possible(void)
{
    return found != NULL;
}

double pull_slower(void)
{
    return measured.slower;
}

double pull_call(void)
{
    return measured.call;
}

void pull_heed_measured(bool heed)
{
    heeds_measured = heed;
}

void pull_costs(struct costs *costs)
{
    /* Of a byte of a copy the models of what goes through cells take 0.6. */
    const double usual = 1e-6, copy = 0.6, most = 20;
    const struct measured known = heeds_measured ? measured : (struct measured){0, 0};
    const double slower = known.slower < 1 ? 1 : known.slower > most ? most : known.slower;
    costs->pull_call = known.call > 0 ? known.call : usual;
    costs->pull_byte = (known.slower > 0 ? copy * slower : 1) * costs->node_byte;
}

int pull_process(int world_rank)
{
    int low = 0, high = found_ranks;
    while (low < high) {
        int middle = (low + high) / 2;
        if (found[middle].rank < world_rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < found_ranks && found[low].rank == world_rank ? found[low].process : 0;
}

#endif
