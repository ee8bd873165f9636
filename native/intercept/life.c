#include "life.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../common/threads.h"
#include "agree.h"
#include "foreign.h"
#include "intercept.h"
#include "leave.h"
#include "output.h"
#include "part.h"
#include "preload.h"
#include "signals.h"
#include "topology.h"
#include "unisono.h"

static pid_t recording; /* the process whose calls are recorded; 0: none */
static bool begun;      /* MPI_Init has returned */
static bool agreed;     /* all ranks have this library */

static void complain(const char *variable, const char *value)
{
    fprintf(stderr, "unisono: %s: %s is no value for it; the default is taken\n", variable, value);
}

/* Programs started by others write beside them, not over them. */
static void name_spawned(void)
{
    MPI_Comm parent;
    PMPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        return;
    long pid = (long)getpid();
    PMPI_Bcast(&pid, 1, MPI_LONG, 0, comms.own);
    size_t used = strlen(record.settings.prefix);
    snprintf(record.settings.prefix + used, sizeof record.settings.prefix - used, ".spawned%ld", pid);
}

uint64_t life_before_init(void)
{
    foreign_refuse();
    return ticks_clock_ns();
}

void life_after_init(uint64_t before)
{
    if (begun) /* already: a Fortran binding that calls MPI_Init in C */
        return;
    begun = true;
    uint64_t init_ns = ticks_clock_ns() - before;
    int error = errno;
    preload_forget();
    agreed = agree_start();
    if (!agreed) {
        errno = error;
        return;
    }
    dispatch_start();
    settings_read(&record.settings, complain);
    if (record.settings.prefix[0] == '\0') {
        errno = error;
        return;
    }
    record_inside = true;
    const int level = threads_level();
    if (comms_start() && comms_agree(record_start(level == MPI_THREAD_MULTIPLE))) {
        name_spawned();
        part_start(init_ns, level);
        signals_start();
        recording = getpid();
        ticks_start();
        record_switch(record.settings.start);
    } else {
        fprintf(stderr, "unisono: a rank has no memory to record calls in; there will be no profile\n");
    }
    record_inside = false;
    errno = error;
}

/* No further calls are recorded; whether there is something to write. */
static bool stop(void)
{
    bool ours = recording != 0 && recording == getpid();
    record_switch(false);
    recording = 0;
    return ours;
}

void life_before_finalize(void)
{
    int error = errno;
    if (stop()) {
        record_inside = true;
        output_all();
        signals_end();
        comms_end();
        record_inside = false;
    }
    dispatch_finish();
    topology_end();
    leave_together(agreed);
    errno = error;
}

void life_before_abort(void)
{
    int error = errno;
    if (stop())
        output_own("abort");
    errno = error;
}

bool life_is_first_rank(void)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    bool first = true;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *rank = getenv(ranks[i]);
        first = first && (rank == NULL || strcmp(rank, "0") == 0);
    }
    return first;
}

/* Whether something was asked for that did not come to pass, since calls went by without us; one rank says so. */
static bool was_passed_by(void)
{
    static const char *const wants[] = {"UNISONO_PROFILE", "UNISONO_RULES", "UNISONO_FORCE", "UNISONO_COLLECTIVES"};
    bool wanted = false;
    int started = 0;
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        const char *want = getenv(wants[i]);
        wanted = wanted || (want != NULL && want[0] != '\0');
    }
    return !begun && wanted && life_is_first_rank() && PMPI_Initialized(&started) == MPI_SUCCESS && started;
}

/* A program that ends without MPI_Finalize, or that has called MPI without us. */
__attribute__((destructor)) static void at_exit(void)
{
    if (stop())
        output_own("exit");
    if (was_passed_by())
        fprintf(
            stderr,
            "unisono: nothing was recorded or served: MPI_Init is taken by %s, which calls the MPI library by another way "
            "than PMPI_Init; put libunisono.so %s it in LD_PRELOAD, or leave one of them out\n",
            tools_taker(), tools_next[F_Init] != NULL ? "behind" : "before");
}

/* Any tool may give MPI_Pcontrol any further arguments, or none: is this readable text that ends? */
static bool is_name(const char *name)
{
    unsigned char resident;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), known = 0;
    for (int i = 0; i < PHASE_NAME; i++) {
        uintptr_t at = (uintptr_t)name + (uintptr_t)i, start = at / page * page;
        if (start == 0 || (start != known && mincore((void *)start, page, &resident) != 0))
            return false;
        known = start;
        if (name[i] == '\0')
            return true;
        if (iscntrl((unsigned char)name[i]))
            return false;
    }
    return false;
}

void life_pcontrol(int level, const char *name)
{
    int error = errno;
    if (recording != 0 && level == PCONTROL_OFF)
        record_switch(false);
    else if (recording != 0 && level == PCONTROL_ON)
        record_switch(true);
    else if (recording != 0 && level == PCONTROL_RESET)
        record_reset(), ticks_restart();
    else if (recording != 0 && level >= PCONTROL_PHASE && is_name(name)) {
        if (name[0] != '\0')
            record_phase_begin(name);
        else
            record_phase_end();
    }
    errno = error;
}

SYMBOL void unisono_phase_begin(const char *name)
{
    if (recording != 0 && name != NULL)
        record_phase_begin(name);
}

SYMBOL void unisono_phase_end(void)
{
    if (recording != 0)
        record_phase_end();
}

int here_Init(int *argc, char ***argv)
{
    uint64_t before = life_before_init();
    int status = REAL(Init)(argc, argv);
    if (status == MPI_SUCCESS)
        life_after_init(before);
    return status;
}

int here_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    uint64_t before = life_before_init();
    int status = REAL(Init_thread)(argc, argv, required, provided);
    if (status == MPI_SUCCESS)
        life_after_init(before);
    return status;
}

int here_Finalize(void)
{
    life_before_finalize();
    return REAL(Finalize)();
}

int here_Abort(MPI_Comm comm, int status)
{
    life_before_abort();
    return REAL(Abort)(comm, status);
}
