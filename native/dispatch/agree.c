#include "agree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../common/threads.h"
#include "agreement.h"
#include "failure.h"
#include "job.h"
#include "node/copy.h"

/* Of the sources this library was made of (CMakeLists.txt). */
#ifndef UNISONO_SOURCES
#define UNISONO_SOURCES "unknown"
#endif

enum { DESCRIPTORS = 8, VERSION = 0, LIBRARY = 1, VARIABLES = 2 };
enum { LEAST_CACHE, LEAST_OWN_CACHE, LEAST_NOT_MULTIPLE };

/* All that the library looks at. `serves`: whether calls may be served because of it; `records`: they are recorded. */
static const struct variable {
    const char *name;
    bool serves, records;
} variables[] = {
    {"UNISONO_RULES", true, false},           {"UNISONO_FORCE", true, false},
    {"UNISONO_COLLECTIVES", true, false},     {"UNISONO_REPRODUCIBLE", true, false},
    {"UNISONO_VERBOSE", true, false},         {"UNISONO_PROFILE", false, true},
    {"UNISONO_PROFILE_DEPTH", false, false},  {"UNISONO_PROFILE_SPLIT_WAITING", false, false},
    {"UNISONO_PROFILE_FILTER", false, false}, {"UNISONO_PROFILE_MEMORY", false, false},
    {"UNISONO_PROFILE_START", false, false},  {"UNISONO_TOPOLOGY", false, false},
    {"UNISONO_FAKE_NODES", false, false},     {"UNISONO_FAKE_NUMA", false, false},
    {"UNISONO_SHARED_MEMORY", false, false},  {"UNISONO_PATIENCE", false, false},
    {"UNISONO_REQUIRED", false, false},       {"UNISONO_CELLS", false, false},
    {"UNISONO_XPMEM", false, false},
};
enum { COUNT = sizeof variables / sizeof *variables };
_Static_assert(VARIABLES + COUNT <= AGREEMENT_ITEMS, "a record has room for all");

const char *agree_sources(void)
{
    return UNISONO_SOURCES;
}

static bool given(const char *name)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0';
}

bool agree_is_required(void)
{
    return given("UNISONO_REQUIRED") && strcmp(getenv("UNISONO_REQUIRED"), "0") != 0;
}

/* Seconds that MPI_Init may return earlier on one rank than on another. Ranks need not have the same. */
static int patience(void)
{
    const int usual = 20, longest = 3600;
    int said = given("UNISONO_START_SECONDS") ? atoi(getenv("UNISONO_START_SECONDS")) : 0;
    return said >= 1 && said <= longest ? said : usual;
}

bool agree_serves(void)
{
    bool any = false;
    for (int i = 0; i < COUNT; i++)
        any = any || (variables[i].serves && given(variables[i].name));
    return any;
}

static bool wants(void)
{
    bool any = agree_serves();
    for (int i = 0; i < COUNT; i++)
        any = any || (variables[i].records && given(variables[i].name));
    return any;
}

static bool has_descriptors(void)
{
    int file[DESCRIPTORS], opened = 0;
    while (opened < DESCRIPTORS && (file[opened] = open("/", O_PATH | O_CLOEXEC)) >= 0)
        opened++;
    for (int i = 0; i < opened; i++)
        close(file[i]);
    return opened == DESCRIPTORS;
}

/* What this rank says of itself. */
static void describe(struct record *own, int rank, const char *host)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    *own = (struct record){.items = VARIABLES + COUNT};
    PMPI_Get_library_version(library, &length);
    own->item[VERSION] = agreement_hash(agree_sources());
    own->item[LIBRARY] = agreement_hash(library);
    for (int i = 0; i < COUNT; i++)
        own->item[VARIABLES + i] = agreement_hash(given(variables[i].name) ? getenv(variables[i].name) : NULL);
    own->least[LEAST_CACHE] = copy_last_cache();
    own->least[LEAST_OWN_CACHE] = copy_own_cache_here();
    own->least[LEAST_NOT_MULTIPLE] = threads_level() != MPI_THREAD_MULTIPLE;
    if (has_descriptors())
        return;
    own->complaint = (struct complaint){.trouble = TROUBLE_DESCRIPTORS, .rank = rank, .other = -1};
    agreement_name(own->complaint.host, host);
}

static void take_over(const struct record *all)
{
    copy_agree_on_cache(all->least[LEAST_CACHE]);
    copy_agree_on_own_cache(all->least[LEAST_OWN_CACHE]);
    job.multiple = !all->least[LEAST_NOT_MULTIPLE];
}

static const char *item_name(int item)
{
    return item == VERSION                                 ? "the version of libunisono"
           : item == LIBRARY                               ? "the version of the MPI library"
           : item >= VARIABLES && item < VARIABLES + COUNT ? variables[item - VARIABLES].name
                                                           : "what they are";
}

/* "rank 3 on host n1" */
static const char *who(int rank, const char *host, char text[128])
{
    snprintf(text, 128, "rank %d%s%s", rank, host[0] != '\0' ? " on host " : "", host);
    return text;
}

static void say(const struct complaint *complaint)
{
    char one[128], other[128], reason[512];
    who(complaint->rank, complaint->host, one);
    who(complaint->other, complaint->other_host, other);
    switch (complaint->trouble) {
    case TROUBLE_SILENT:
        snprintf(reason, sizeof reason,
                 "%s does not have libunisono loaded, or did not answer within %d seconds (UNISONO_START_SECONDS)", one,
                 patience());
        break;
    case TROUBLE_IDLE: snprintf(reason, sizeof reason, "%s has none of the variables that ask for it", one); break;
    case TROUBLE_DESCRIPTORS:
        snprintf(reason, sizeof reason, "%s has fewer than %d file descriptors left", one, DESCRIPTORS);
        break;
    case TROUBLE_DIFFERENT:
        snprintf(reason, sizeof reason, "%s and %s differ in %s", other, one, item_name(complaint->item));
        break;
    default:
        snprintf(
            reason, sizeof reason,
            "this launcher offers neither PMIx nor PMI, through which ranks could find out whether all have the same "
            "library and variables; UNISONO_AGREED=1 says that they have");
    }
    fprintf(stderr, "unisono: libunisono steps aside on all ranks: %s\n", reason);
}

/* One rank says it: rank 0, or, if that cannot, the first that has found out by itself. */
static bool speaks(const struct keyspace *space, const struct complaint *complaint)
{
    int rank = space->rank, parent = (rank - 1) / AGREEMENT_CHILDREN;
    if (rank == 0)
        return true;
    if ((complaint->trouble != TROUBLE_SILENT && complaint->trouble != TROUBLE_IDLE) || complaint->rank != parent)
        return false;
    bool first = !agreement_is_here(space, 0);
    for (int before = parent * AGREEMENT_CHILDREN + 1; first && before < rank; before++)
        first = !agreement_is_here(space, before);
    return first;
}

/* The program's end, for those who would rather have none than one that is not served. */
static void end(bool said)
{
    if (!said) /* give the one that says why the time to do so */
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    failure_end_job(2);
}

void agree_step_aside(void)
{
    int rank;
    if (!agree_is_required())
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        failure_end_job(2);
    PMPI_Barrier(MPI_COMM_WORLD); /* for the others' end */
}

static bool reach(int round)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int rank, ranks, length;
    struct record own, all = {.complaint = {.trouble = TROUBLE_NO_SPACE}};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Get_processor_name(host, &length);
    describe(&own, rank, host);
    bool vouched = given("UNISONO_AGREED") && strcmp(getenv("UNISONO_AGREED"), "0") != 0, says = rank == 0;
    struct keyspace *space = ranks > 1 && !vouched ? keyspace_open(rank, ranks, round, host) : NULL;
    if (ranks == 1 || vouched)
        all = own;
    else if (space != NULL)
        agreement_reach(space, &own, patience(), &all);
    bool agreed = all.complaint.trouble == TROUBLE_NONE;
    if (agreed)
        take_over(&all);
    else if (space != NULL)
        says = speaks(space, &all.complaint);
    keyspace_close(space);
    if (!agreed && says)
        say(&all.complaint);
    if (!agreed && agree_is_required())
        end(says);
    return agreed;
}

static void decline(void)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int rank, ranks, length;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Get_processor_name(host, &length);
    struct keyspace *space = ranks > 1 ? keyspace_open(rank, ranks, 1, host) : NULL;
    if (space != NULL)
        agreement_decline(space);
    keyspace_close(space);
}

bool agree_start(void)
{
    if (wants())
        return reach(1);
    decline();
    return false;
}

bool agree_again(void)
{
    return reach(2);
}
