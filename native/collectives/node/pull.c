#include "pull.h"

#include <stdlib.h>
#include <string.h>

#include "../fabric.h"
#include "../failure.h"

#ifdef UNISONO_SIMULATED

/* Ranks of a simulation are one process: there is nothing to be shown by copying at once. */
void pull_create(struct pull *pull, const struct coll_comm *comm, bool offer)
{
    (void)offer;
    *pull = (struct pull){.local = comm->topology.local};
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

#else

#include <errno.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif

/* What a rank says of itself. The others read `word` out of its memory and write their part of `answers`: a process of
   the same number in another PID namespace would not have them there. */
struct offer {
    int64_t process;
    uint64_t word_at, word;
    uint64_t answers_at; /* one word for each local number, which writes there the word it has read */
};

/* One system call moves at most so many bytes (MAX_RW_COUNT of the kernel is 2 GiB less a page). */
static const int64_t longest = INT64_C(1) << 30;

typedef ssize_t transfer(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
                         unsigned long);

/* The kernel may stop early, at a fault or a signal: what is left is asked for again, until it says why. */
static int move(transfer *call, const struct pull *pull, int local, uint64_t remote, char *here, int64_t bytes)
{
    if (bytes > 0 && !failure_reach(pull->failure))
        return MPI_ERR_OTHER;
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
    return bytes > 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int pull_read(const struct pull *pull, int local, uint64_t remote, void *to, int64_t bytes)
{
    if (local == pull->local && bytes > 0)
        memcpy(to, (const void *)(uintptr_t)remote, (size_t)bytes);
    return local == pull->local ? MPI_SUCCESS : move(process_vm_readv, pull, local, remote, to, bytes);
}

int pull_write(const struct pull *pull, int local, uint64_t remote, const void *from, int64_t bytes)
{
    if (local == pull->local && bytes > 0)
        memcpy((void *)(uintptr_t)remote, from, (size_t)bytes);
    if (local == pull->local)
        return MPI_SUCCESS;
    return move(process_vm_writev, pull, local, remote, (char *)(uintptr_t)from, bytes);
}

/* Everybody's `bytes` of `data` for everybody of the node, by way of local number 0. `data` has a place for each. */
static int share(const struct coll_comm *comm, char *data, int64_t bytes)
{
    const struct topology *topology = &comm->topology;
    int error = MPI_SUCCESS, locals = topology->locals;
    int root = topology_rank(topology, topology->node, 0);
    if (topology->local != 0) {
        error = fabric_send(&comm->fabric, data + topology->local * bytes, bytes, root, FABRIC_SETUP);
        return error ? error : fabric_receive(&comm->fabric, data, locals * bytes, root, FABRIC_SETUP);
    }
    for (int i = 1; i < locals && error == MPI_SUCCESS; i++)
        error = fabric_receive(&comm->fabric, data + i * bytes, bytes, topology_rank(topology, topology->node, i),
                               FABRIC_SETUP);
    for (int i = 1; i < locals && error == MPI_SUCCESS; i++)
        error = fabric_send(&comm->fabric, data, locals * bytes, topology_rank(topology, topology->node, i),
                            FABRIC_SETUP);
    return error;
}

/* Reads every other's word and writes it into its answers. */
static bool probe(const struct pull *pull, const struct offer *offers, int locals)
{
    bool good = true;
    for (int i = 0; i < locals && good; i++) {
        uint64_t word = 0, answer_at = offers[i].answers_at + (uint64_t)pull->local * sizeof word;
        good = pull_read(pull, i, offers[i].word_at, &word, sizeof word) == MPI_SUCCESS && word == offers[i].word &&
               pull_write(pull, i, answer_at, &word, sizeof word) == MPI_SUCCESS;
    }
    return good;
}

/* Whether it is so on all ranks. */
static bool agreed(const struct coll_comm *comm, bool mine)
{
    int good = mine, all = 0;
    return PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm->comm) == MPI_SUCCESS && all;
}

/* In steps that all ranks take together: who is there; everybody has read and written; everybody was answered. */
static bool works(struct pull *pull, const struct coll_comm *comm, struct offer *offers, const uint64_t *answers)
{
    int locals = comm->topology.locals;
    volatile uint64_t word = (uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15) ^ pull_address(answers);
    prctl(PR_SET_PTRACER, -1L, 0L, 0L, 0L); /* where Yama lets parents alone; elsewhere it says EINVAL */
    offers[pull->local] = (struct offer){getpid(), pull_address((const void *)(uintptr_t)&word), word,
                                         pull_address(answers)};
    bool good = share(comm, (char *)offers, sizeof *offers) == MPI_SUCCESS;
    for (int i = 0; i < locals; i++)
        pull->process[i] = (int)offers[i].process;
    good = agreed(comm, good && probe(pull, offers, locals));
    for (int i = 0; i < locals && good; i++)
        good = ((const volatile uint64_t *)answers)[i] == word;
    return agreed(comm, good);
}

void pull_create(struct pull *pull, const struct coll_comm *comm, bool offer)
{
    size_t locals = (size_t)comm->topology.locals;
    struct offer *offers = calloc(locals, sizeof *offers);
    uint64_t *answers = calloc(locals, sizeof *answers);
    *pull = (struct pull){.local = comm->topology.local, .failure = comm->fabric.failure, .process = calloc(locals, sizeof *pull->process)};
    if (agreed(comm, offer && offers != NULL && answers != NULL && pull->process != NULL))
        pull->works = works(pull, comm, offers, answers);
    free(offers);
    free(answers);
    if (!pull->works)
        pull_free(pull);
}

#endif

void pull_free(struct pull *pull)
{
    free(pull->process);
    pull->process = NULL;
    pull->works = false;
}
