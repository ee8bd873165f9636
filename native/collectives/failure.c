#include "failure.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "node/handed.h"

#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

/* One rank's, in memory that the node shares. */
struct presence {
    _Alignas(128) _Atomic int64_t process; /* 0: not said yet */
    _Atomic uint64_t space;                /* of process numbers */
    _Atomic int left;                      /* of local number 0: the class for which somebody has left */
    _Atomic int reaching;                  /* is in the memory of another process */
    struct handed handed;
};

struct memory {
    char *base;
    int64_t each;
    int locals, local;
    struct memory *next;
};

static struct failure *newest; /* all that listen */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const int64_t period = 1000000000;

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct presence *presence_of(const struct failure *failure, int local)
{
    return (struct presence *)(void *)((char *)failure->presence + local * failure->apart);
}

/* Whether the MPI library has said with this class that processes have failed. */
static bool tells(int class)
{
#if defined(MPIX_ERR_PROC_FAILED) && defined(MPIX_ERR_REVOKED)
    return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING || class == MPIX_ERR_REVOKED;
#else
    (void)class;
    return false;
#endif
}

static int class_of_death(void)
{
#ifdef MPIX_ERR_PROC_FAILED
    return MPIX_ERR_PROC_FAILED;
#else
    return MPI_ERR_OTHER;
#endif
}

static void hear(MPI_Comm *comm, int *error, ...)
{
    int class = MPI_SUCCESS;
    PMPI_Error_class(*error, &class);
    if (!tells(class))
        return;
    pthread_mutex_lock(&lock);
    struct failure *failure = newest;
    while (failure != NULL && failure->comm != *comm)
        failure = failure->newer;
    pthread_mutex_unlock(&lock);
    if (failure != NULL)
        failure_found(failure, class);
}

struct failure *failure_create(void)
{
    struct failure *failure = calloc(1, sizeof *failure);
    if (failure != NULL)
        failure->comm = MPI_COMM_NULL;
    return failure;
}

void failure_listen(struct failure *failure, MPI_Comm comm)
{
    MPI_Errhandler handler;
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
#ifndef UNISONO_SIMULATED
    failure->comm = comm;
    pthread_mutex_lock(&lock);
    failure->newer = newest;
    newest = failure;
    pthread_mutex_unlock(&lock);
    if (PMPI_Comm_create_errhandler(hear, &handler) != MPI_SUCCESS)
        return;
    PMPI_Comm_set_errhandler(comm, handler);
    PMPI_Errhandler_free(&handler);
#else
    (void)failure, (void)handler, (void)hear;
#endif
}

void failure_free(struct failure *failure)
{
    if (failure == NULL)
        return;
    pthread_mutex_lock(&lock);
    struct failure **link = &newest;
    while (*link != NULL && *link != failure)
        link = &(*link)->newer;
    if (*link != NULL)
        *link = failure->newer;
    pthread_mutex_unlock(&lock);
    for (struct memory *memory = failure->memory, *next; memory != NULL; memory = next) {
        next = memory->next;
        free(memory);
    }
    free(failure->message);
    free(failure->before);
    free(failure);
}

struct handed *failure_handed(const struct failure *failure, int local)
{
    return &presence_of(failure, local)->handed;
}

int64_t failure_room(const struct failure *failure)
{
    return failure != NULL && failure->presence == NULL ? (int64_t)sizeof(struct presence) : 0;
}

/* Process numbers mean something only within their namespace. 0: not known. */
static uint64_t own_space(void)
{
    struct stat space;
    return stat("/proc/self/ns/pid", &space) == 0 ? (uint64_t)space.st_ino : 0;
}

bool failure_shared(struct failure *failure, char *base, int64_t each, int locals, int local)
{
    struct memory *memory = failure != NULL ? calloc(1, sizeof *memory) : NULL;
    if (memory == NULL)
        return failure == NULL;
    *memory = (struct memory){base, each, locals, local, failure->memory};
    failure->memory = memory;
    if (failure->presence != NULL)
        return true;
    failure->presence = (struct presence *)(void *)(base + each - (int64_t)sizeof(struct presence));
    failure->apart = each;
    failure->locals = locals;
    failure->local = local;
    struct presence *own = presence_of(failure, local);
    atomic_store_explicit(&own->space, own_space(), memory_order_relaxed);
    atomic_store_explicit(&own->process, (int64_t)getpid(), memory_order_release);
    return true;
}

void failure_unshared(struct failure *failure, const char *base)
{
    if (failure == NULL)
        return;
    for (struct memory **link = &failure->memory; *link != NULL; link = &(*link)->next)
        if ((*link)->base == base) {
            struct memory *memory = *link;
            const char *presence = (const char *)failure->presence;
            if (presence > base && presence < base + memory->each)
                failure->presence = NULL;
            *link = memory->next;
            free(memory);
            return;
        }
}

/* A process that has ended and that nobody has waited for: as long as other threads of it run, it has not. */
static bool is_zombie(pid_t process)
{
    char path[64], text[1024], state = ' ';
    long threads = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *name_ends = strrchr(text, ')');
    /* After the name: the state, 16 numbers, the number of threads. */
    return name_ends != NULL &&
           sscanf(name_ends + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld", &state,
                  &threads) == 2 &&
           (state == 'Z' || state == 'X') && threads <= 1;
}

/* Its start time is not compared with what it was: that changes when a process is restored from a checkpoint. Where a
 * number is used again at once, the wait goes on, as it does without us. */
static bool is_gone(const struct failure *failure, int local, bool closely)
{
    const struct presence *presence = presence_of(failure, local), *own = presence_of(failure, failure->local);
    pid_t process = (pid_t)atomic_load_explicit(&presence->process, memory_order_acquire);
    if (process == 0 || local == failure->local ||
        atomic_load_explicit(&presence->space, memory_order_relaxed) !=
            atomic_load_explicit(&own->space, memory_order_relaxed))
        return false;
    return (kill(process, 0) != 0 && errno == ESRCH) || (closely && is_zombie(process));
}

/* All of the node, one of them closely. -1: nobody. */
static int look_for_gone(struct failure *failure)
{
    int next = failure->next++ % failure->locals;
    for (int local = 0; local < failure->locals; local++)
        if (is_gone(failure, local, local == next))
            return local;
    return -1;
}

void failure_look(struct failure *failure, bool begins)
{
    if (failure == NULL || failure->presence == NULL)
        return;
    int left = atomic_load_explicit(&presence_of(failure, 0)->left, memory_order_relaxed);
    if (left != MPI_SUCCESS) {
        failure_found(failure, left);
        return;
    }
    int64_t time = now();
    if (begins || time < failure->look_at) {
        failure->look_at = begins ? time + period : failure->look_at;
        return;
    }
    failure->look_at = time + period;
    int local = look_for_gone(failure);
    if (local < 0)
        return;
    long process = (long)atomic_load_explicit(&presence_of(failure, local)->process, memory_order_relaxed);
    if (failure_found(failure, class_of_death()))
        fprintf(
            stderr,
            "unisono: process %ld has ended while other ranks wait for it in a collective, which returns an error\n",
            process);
}

bool failure_reach(struct failure *failure)
{
    if (failure == NULL || failure->presence == NULL)
        return !failure_known(failure);
    atomic_store(&presence_of(failure, failure->local)->reaching, 1);
    int left = atomic_load(&presence_of(failure, 0)->left);
    if (left == MPI_SUCCESS && !failure_known(failure))
        return true;
    failure_reached(failure);
    failure_found(failure, left);
    return false;
}

void failure_reached(struct failure *failure)
{
    if (failure != NULL && failure->presence != NULL)
        atomic_store_explicit(&presence_of(failure, failure->local)->reaching, 0, memory_order_release);
}

/* Until no other process of the node is in this one's memory; they look at `left` before they go there. */
static void await_reaching(struct failure *failure)
{
    for (int local = 0; local < failure->locals; local++) {
        const struct presence *presence = presence_of(failure, local);
        int64_t look_at = now() + period;
        while (local != failure->local && atomic_load(&presence->reaching) != 0) {
            sched_yield();
            if (now() >= look_at && is_gone(failure, local, true))
                break;
            look_at = now() >= look_at ? now() + period : look_at;
        }
    }
}

/* The own part stays as it is: there may be more in it than what others read. */
static void leave_memory(const struct memory *memory)
{
    size_t bytes = (size_t)memory->each * (size_t)memory->locals;
    char *own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (own == MAP_FAILED)
        return;
    int64_t part = memory->each * memory->local;
    memcpy(own + part, memory->base + part, (size_t)memory->each);
    if (mremap(own, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, memory->base) == MAP_FAILED)
        munmap(own, bytes);
}

bool failure_tolerated(void)
{
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    int *tolerated, found = 0;
    return PMPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &tolerated, &found) == MPI_SUCCESS && found && *tolerated;
#else
    return false;
#endif
}

int failure_told(MPI_Comm comm)
{
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    int revoked = 0, dead = 0;
    MPI_Group failed;
    if (PMPIX_Comm_is_revoked(comm, &revoked) == MPI_SUCCESS && revoked)
        return MPIX_ERR_REVOKED;
    if (PMPIX_Comm_get_failed(comm, &failed) == MPI_SUCCESS) {
        PMPI_Group_size(failed, &dead);
        PMPI_Group_free(&failed);
    }
    return dead > 0 ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
#else
    (void)comm;
    return MPI_SUCCESS;
#endif
}

static void revoke_all(MPI_Comm comm)
{
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    if (comm != MPI_COMM_NULL && failure_tolerated())
        PMPIX_Comm_revoke(comm);
#else
    (void)comm;
#endif
}

bool failure_found(struct failure *failure, int error)
{
    int class = error, none = MPI_SUCCESS;
    if (failure == NULL || failure_known(failure))
        return false;
    PMPI_Error_class(error, &class);
    failure->error = class;
    bool first =
        failure->presence == NULL || atomic_compare_exchange_strong(&presence_of(failure, 0)->left, &none, class);
    revoke_all(failure->comm);
    if (failure->presence != NULL) {
        failure_reached(failure); /* it is here, not in another's memory; what it says later nobody sees */
        await_reaching(failure);
    }
    for (const struct memory *memory = failure->memory; memory != NULL; memory = memory->next)
        leave_memory(memory);
    return first;
}

void failure_died(struct failure *failure)
{
    failure_found(failure, class_of_death());
}

int failure_report(const struct failure *failure, MPI_Comm user)
{
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    int revoked = 0;
    if (tells(failure->error))
        return PMPIX_Comm_is_revoked(user, &revoked) == MPI_SUCCESS && revoked ? MPIX_ERR_REVOKED
                                                                               : MPIX_ERR_PROC_FAILED;
#else
    (void)user;
#endif
    return failure->error;
}

void failure_end_job(int status)
{
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    PMPI_Abort(MPI_COMM_WORLD, status);
}
