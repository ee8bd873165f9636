#include "job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "duplicates.h"
#include "device.h"
#include "dispatch.h"
#include "measure.h"
#include "libnbc.h"
#include "measure_pull.h"
#include "measure_ways.h"
#include "node/crowd.h"
#include "node/meet.h"
#include "node/pull.h"
#include "nonblocking.h"
#include "ordered.h"
#include "persistent.h"
#include "progress.h"
#include "reserve.h"
#include "comm_state.h"
#include "types.h"
#include "verbose.h"

enum { RULES_MOST = 64 << 20 };

struct job job;
_Atomic unsigned char dispatch_active;
_Atomic unsigned char dispatch_below;
_Atomic unsigned char dispatch_all_complete;

static int world_rank(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* What is wrong with something that all ranks see alike is said once. */
static void complain(const char *what, int line, const char *sentence)
{
    if (world_rank() != 0)
        return;
    if (line > 0)
        fprintf(stderr, "unisono: %s:%d: %s; all collectives are left to the MPI library\n", what, line, sentence);
    else
        fprintf(stderr, "unisono: %s: %s; all collectives are left to the MPI library\n", what, sentence);
}

/* The whole file; NULL with errno. */
static char *read_file(const char *path, int *length)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = NULL;
    size_t used = 0, room = 0;
    do {
        if (used == room) {
            char *bigger = room < RULES_MOST ? realloc(text, room = room == 0 ? 65536 : 2 * room) : NULL;
            if (bigger == NULL) {
                free(text);
                fclose(file);
                errno = EFBIG;
                return NULL;
            }
            text = bigger;
        }
        used += fread(text + used, 1, room - used, file);
    } while (used == room);
    bool bad = ferror(file);
    fclose(file);
    if (bad) {
        free(text);
        errno = EIO;
        return NULL;
    }
    *length = (int)used;
    return text;
}

/* Rank 0's file on all ranks; NULL on all of them. */
static char *share_file(const char *path, int *bytes)
{
    int length = -1, good, all;
    char *text = NULL;
    if (world_rank() == 0 && (text = read_file(path, &length)) == NULL)
        complain(path, 0, strerror(errno));
    PMPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (length < 0)
        return NULL;
    if (text == NULL)
        text = malloc((size_t)length + 1);
    good = text != NULL;
    PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) {
        free(text);
        return NULL;
    }
    PMPI_Bcast(text, length, MPI_BYTE, 0, MPI_COMM_WORLD);
    *bytes = length;
    return text;
}

static bool read_rules(const char *path)
{
    struct problem problem = {""};
    int line, bytes;
    char *text = share_file(path, &bytes);
    if (text == NULL)
        return false;
    bool good = rules_parse(&job.rules, text, (size_t)bytes, &line, &problem);
    if (!good)
        complain(path, line, problem.text);
    free(text);
    return good;
}

static const char *given(const char *name)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* UNISONO_COLLECTIVES: where there are rules, on unless it says otherwise. False: it is neither on nor off. */
static bool read_switch(const char *rules)
{
    const char *text = given("UNISONO_COLLECTIVES");
    job.by_costs = text != NULL && strcmp(text, "on") == 0;
    job.is_on = job.by_costs || (text == NULL && rules != NULL);
    if (text == NULL || job.is_on || strcmp(text, "off") == 0)
        return true;
    complain("UNISONO_COLLECTIVES", 0, "it is on or off");
    return false;
}

/* UNISONO_REPRODUCIBLE, or what the rules say; after these have been read. */
static bool read_reproducible(void)
{
    const char *text = given("UNISONO_REPRODUCIBLE");
    job.reproducible = text != NULL ? rules_reproducible(text) : job.rules.reproducible;
    if (job.reproducible < REPRODUCIBLES)
        return true;
    complain("UNISONO_REPRODUCIBLE", 0, "it is runs, placement or ranks");
    job.reproducible = REPRODUCIBLE_NOT;
    return false;
}

/* The environment is the same on all ranks (agree.h); what is in files, rank 0 reads. */
static bool read_environment(void)
{
    struct problem problem = {""};
    const char *rules = given("UNISONO_RULES"), *forced = given("UNISONO_FORCE"), *verbose = given("UNISONO_VERBOSE");
    job.verbose = verbose != NULL && strcmp(verbose, "0") != 0;
    if (!read_switch(rules))
        return false;
    if (job.is_on && rules != NULL && !read_rules(rules))
        return false;
    if (!read_reproducible())
        return false;
    if (forced != NULL && !rules_parse_forced(&job.forced, forced, &problem)) {
        complain("UNISONO_FORCE", 0, problem.text);
        return false;
    }
    return true;
}

bool job_prepare(void)
{
    if (job.started)
        return true;
    enum { GOOD, PLAIN, HOSTS, COMPLETE, PROGRESS, ITEMS };
    int mine[ITEMS], all[ITEMS] = {0};
    job.agreed = job.agreed || agree_again();
    if (!job.agreed)
        return false;
    int ranks;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    topology_heed_places(job.reproducible == REPRODUCIBLE_NOT); /* the next job has other nodes */
    crowd_heed_others(job.reproducible != REPRODUCIBLE_RUNS);
    pull_heed_measured(job.reproducible != REPRODUCIBLE_RUNS);
    meet_heed_measured(job.reproducible != REPRODUCIBLE_RUNS);
    mine[GOOD] = reserve_start(ranks);
    PMPI_Allreduce(mine, all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD); /* what follows all do together */
    if (!all[GOOD]) {
        complain("libunisono", 0, "a rank has no memory left for it");
        return false;
    }
    mine[GOOD] = topology_start() == MPI_SUCCESS && comm_state_start() && types_start();
    mine[PLAIN] = !dispatch_below;
    mine[HOSTS] = !device_driver();
    mine[COMPLETE] = dispatch_all_complete;
    mine[PROGRESS] = progress_is_there();
    PMPI_Allreduce(mine, all, ITEMS, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    dispatch_below = !all[PLAIN];
    job.devices = !all[HOSTS];
    dispatch_all_complete = all[COMPLETE];
    job.progresses = all[PROGRESS];
    job.started = all[GOOD];
    if (!job.started)
        complain("libunisono", 0, "a rank could not set it up, for want of memory perhaps");
    return job.started;
}

bool job_says(void)
{
    return job.is_on || job.forced.count > 0 || job.verbose || ordered_order() != ORDER_FREE;
}

void dispatch_start(void)
{
    job.agreed = true;
    if (!agree_serves())
        return;
    bool good = read_environment() && job_prepare();
    if (!good)
        agree_step_aside();
    const bool active = good && job_says();
    if (active) {
        measure_ways();
        measure_pull();
    }
    if (good && job.rules.has_costs) {
        job.costs = job.rules.costs;
        pull_costs(&job.costs);
        job.has_costs = true;
    } else if (good && (job.by_costs || ordered_order() != ORDER_FREE) && job.reproducible != REPRODUCIBLE_RUNS) {
        job.has_costs = measure_costs(&job.costs);
    }
    if (active)
        nonblocking_start();
    dispatch_active = active;
}

void dispatch_finish(void)
{
    if (!job.started)
        return;
    dispatch_active = false;
    dispatch_posts = false;
    memset(dispatch_begins, BEGINS_NOT, sizeof dispatch_begins);
    if (job.verbose && world_rank() == 0)
        verbose_print();
    persistent_finish();
    comm_state_finish();
    progress_end();
    types_finish();
    duplicates_end();
    libnbc_end();
    rules_free(&job.rules);
    rules_free(&job.forced);
    job.started = false;
}

int dispatch_returned(MPI_Comm user, MPI_Comm used, int error)
{
    if (error != MPI_SUCCESS && used != user)
        PMPI_Comm_call_errhandler(user, error);
    return error;
}
