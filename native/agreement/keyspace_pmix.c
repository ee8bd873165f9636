/* PMIx, as Open MPI's launchers and Slurm provide it. The MPI library has started its client; it is asked through the
 * library that is in memory already, in the binary form that the PMIx Standard keeps from version 3 on. */
#include "keyspace.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMESPACE = 256, KEY = 512, LIBRARIES = 16, PATH = 1024 };
enum { TYPE_BOOL = 1, TYPE_STRING = 3, TYPE_INT = 6, SCOPE_GLOBAL = 3, SUCCESS = 0, PATIENCE = 2 };

/* pmix_proc_t, pmix_value_t, pmix_info_t. */
struct process {
    char name[NAMESPACE];
    uint32_t rank;
};
struct value {
    uint16_t type;
    union {
        bool flag;
        int integer;
        char *string;
        void *room[3]; /* the longest of all kinds */
    } data;
};
struct info {
    char key[KEY];
    uint32_t flags;
    struct value value;
};

typedef int put_function(uint8_t scope, const char *key, struct value *value);
typedef int commit_function(void);
typedef int get_function(const struct process *process, const char *key, const struct info *info, size_t infos,
                         struct value **value);

struct pmix {
    struct process job; /* the rank counts for nothing */
    put_function *put;
    commit_function *commit;
    get_function *get;
};

struct libraries {
    int count;
    char path[LIBRARIES][PATH];
};

static int note_library(struct dl_phdr_info *object, size_t size, void *out)
{
    struct libraries *libraries = out;
    (void)size;
    if (strstr(object->dlpi_name, "pmix") != NULL && strlen(object->dlpi_name) < PATH && libraries->count < LIBRARIES)
        strcpy(libraries->path[libraries->count++], object->dlpi_name);
    return 0;
}

static void *look(void *library, const char *prefix, const char *name)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s%s", prefix, name);
    return dlsym(library, symbol);
}

/* Open MPI 4 may bring a PMIx of its own, whose names it has changed. */
static bool find_in(void *library, struct pmix *pmix)
{
    static const char *const prefixes[] = {"", "OPAL_MCA_PMIX4X_", "OPAL_MCA_PMIX3X_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        *(void **)&pmix->put = look(library, prefixes[i], "PMIx_Put");
        *(void **)&pmix->commit = look(library, prefixes[i], "PMIx_Commit");
        *(void **)&pmix->get = look(library, prefixes[i], "PMIx_Get");
        if (pmix->put != NULL && pmix->commit != NULL && pmix->get != NULL)
            return true;
    }
    return false;
}

/* The MPI library may have loaded it for itself alone: then only its own handle finds the symbols. */
static bool find(struct pmix *pmix)
{
    struct libraries *libraries = calloc(1, sizeof *libraries);
    if (find_in(RTLD_DEFAULT, pmix) || libraries == NULL) {
        free(libraries);
        return pmix->get != NULL;
    }
    dl_iterate_phdr(note_library, libraries);
    bool found = false;
    for (int i = 0; i < libraries->count && !found; i++) {
        void *library = dlopen(libraries->path[i], RTLD_LAZY | RTLD_NOLOAD);
        found = library != NULL && find_in(library, pmix); /* stays open: it is in use until MPI_Finalize */
    }
    free(libraries);
    return found;
}

static void name_key(const struct keyspace *space, int key, char text[64])
{
    snprintf(text, 64, "unisono.%d.%d", space->round, key);
}

static bool put(const struct keyspace *space, int key, const char *text)
{
    const struct pmix *pmix = space->own;
    struct value value = {.type = TYPE_STRING, .data = {.string = (char *)(uintptr_t)text}};
    char name[64];
    name_key(space, key, name);
    return pmix->put(SCOPE_GLOBAL, name, &value) == SUCCESS && pmix->commit() == SUCCESS;
}

enum manner {
    MANNER_WAIT,    /* some servers answer at once that there is nothing, others only after the time-out */
    MANNER_REFRESH, /* past what this process has kept; waits as well */
    MANNER_AT_ONCE, /* what this node knows */
};

/* What is there now. */
static bool ask(const struct keyspace *space, int rank, const char *key, enum manner manner, char *text, size_t bytes)
{
    const struct pmix *pmix = space->own;
    struct process process = pmix->job;
    const struct value truth = {.type = TYPE_BOOL, .data = {.flag = true}};
    struct info options[] = {
        {.key = "pmix.immediate", .value = truth},
        {.key = "pmix.timeout", .value = {.type = TYPE_INT, .data = {.integer = PATIENCE}}},
        {.key = "pmix.get.refresh", .value = truth},
    };
    struct value *value = NULL;
    process.rank = (uint32_t)rank;
    if (pmix->get(&process, key, options + (manner != MANNER_AT_ONCE), manner == MANNER_REFRESH ? 2 : 1, &value) !=
            SUCCESS ||
        value == NULL)
        return false;
    bool good = value->type == TYPE_STRING && value->data.string != NULL && strlen(value->data.string) < bytes;
    if (good)
        strcpy(text, value->data.string);
    if (value->type == TYPE_STRING)
        free(value->data.string);
    free(value);
    return good;
}

/* Slurm's server (PMIx 4.2) asks other nodes for what is refreshed, and this rank's own node never again where a rank of it
 * had said nothing yet; that node is asked for what it knows by now. */
static bool get(const struct keyspace *space, int rank, int key, char value[KEYSPACE_VALUE])
{
    char name[64];
    name_key(space, key, name);
    return ask(space, rank, name, MANNER_REFRESH, value, KEYSPACE_VALUE) ||
           ask(space, rank, name, MANNER_AT_ONCE, value, KEYSPACE_VALUE);
}

static void host_of(const struct keyspace *space, int rank, char *host, size_t bytes)
{
    if (!ask(space, rank, "pmix.hname", MANNER_WAIT, host, bytes))
        host[0] = '\0';
}

struct keyspace *keyspace_pmix(int rank, int ranks)
{
    const char *name = getenv("PMIX_NAMESPACE"), *number = getenv("PMIX_RANK");
    (void)ranks;
    if (name == NULL || number == NULL || strlen(name) >= NAMESPACE || atoi(number) != rank)
        return NULL;
    struct keyspace *space = calloc(1, sizeof *space);
    struct pmix *pmix = calloc(1, sizeof *pmix);
    if (space == NULL || pmix == NULL || !find(pmix)) {
        free(pmix);
        free(space);
        return NULL;
    }
    strcpy(pmix->job.name, name);
    *space = (struct keyspace){.put = put, .get = get, .host_of = host_of, .own = pmix};
    return space;
}
