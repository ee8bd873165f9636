#include "where.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

enum { PROTOCOL = 1 };

struct place {
    char host[128];
    int node;
    int pid;
    uint64_t machine;
    struct cpus cpus;
    struct cpus numa; /* a set of NUMA nodes */
};

/* Ranks whose "nodes" are one machine (containers, namespaces) share its CPUs, whatever they believe. */
static bool machine_oversubscribed(const struct place *places, int ranks, uint64_t machine, struct cpus *masks)
{
    int count = 0;
    for (int rank = 0; rank < ranks; rank++)
        if (places[rank].machine == machine)
            masks[count++] = places[rank].cpus;
    return cpus_oversubscribed(masks, count);
}

/* Two ranks of one node that use one cache share it; a rank that may wander among several is counted as alone, which
   asks for more than needed rather than less. */
static int64_t find_cache_share(const struct bench *bench, const struct place *places)
{
    struct cpus sharing;
    int cpu = 0;
    while (cpu < CPUS_MAX - 1 && !cpus_has(&bench->cpus, cpu))
        cpu++;
    int64_t bytes = cpus_last_cache(cpu, &sharing);
    int sharers = 0;
    for (int rank = 0; rank < bench->team.ranks; rank++)
        sharers += places[rank].node == bench->team.node && cpus_within(&places[rank].cpus, &sharing);
    return sharers > 0 && cpus_within(&bench->cpus, &sharing) ? bytes / sharers : bytes;
}

static struct place *gather(struct bench *bench)
{
    struct team *team = &bench->team;
    struct place *places = calloc((size_t)team->ranks + 1, sizeof *places);
    if (places == NULL)
        return NULL;
    struct place *mine = &places[team->ranks];
    gethostname(mine->host, sizeof mine->host - 1);
    mine->node = team->node;
    mine->pid = (int)getpid();
    mine->machine = clock_machine();
    cpus_of_process(&mine->cpus);
    cpus_numa_nodes(&mine->cpus, &mine->numa);
    MPI_Allgather(mine, sizeof *mine, MPI_BYTE, places, sizeof *mine, MPI_BYTE, team->comm);
    return places;
}

bool where_find(struct bench *bench, struct problem *problem)
{
    struct team *team = &bench->team;
    struct place *places = gather(bench);
    struct cpus *masks = malloc((size_t)team->ranks * sizeof *masks);
    bool good = places != NULL && masks != NULL;
    if (good) {
        int64_t crowded = machine_oversubscribed(places, team->ranks, places[team->ranks].machine, masks);
        bench->cpus = places[team->ranks].cpus;
        bench->cache_share = find_cache_share(bench, places);
        team->wait.oversubscribed = true; /* until it is known that spinning is safe */
        team_maximum_all(team, &crowded, 1);
        bench->oversubscribed = team->wait.oversubscribed = crowded;
    }
    free(masks);
    free(places);
    return good || problem_set(problem, "out of memory");
}

static void add_set(struct text *text, const char *name, const struct cpus *set)
{
    const char *comma = "";
    text_add(text, ",\"%s\":[", name);
    for (int i = 0; i < CPUS_MAX; i++) {
        if (cpus_has(set, i)) {
            text_add(text, "%s%d", comma, i);
            comma = ",";
        }
    }
    text_add(text, "]");
}

static void add_place(struct text *text, int rank, const struct place *place)
{
    text_add(text, "%s{\"rank\":%d,\"host\":", rank ? "," : "", rank);
    text_quote(text, place->host);
    text_add(text, ",\"node\":%d", place->node);
    add_set(text, "cpus", &place->cpus);
    add_set(text, "numa", &place->numa);
    text_add(text, ",\"pid\":%d}", place->pid);
}

bool where_hello(struct bench *bench, struct problem *problem)
{
    struct team *team = &bench->team;
    struct text *text = &bench->answer;
    struct place *places = gather(bench);
    if (places == NULL)
        return problem_set(problem, "out of memory");
    int64_t least = -memory_available();
    team_maximum(team, &least, 1);
    if (team->rank == 0) {
        char library[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;
        MPI_Get_library_version(library, &length);
        library[strcspn(library, "\n")] = '\0';
        text_add(text, "{\"hello\":1,\"protocol\":%d,\"mpi\":", PROTOCOL);
        text_quote(text, library);
        text_add(text, ",\"ranks\":%d,\"nodes\":%d,\"oversubscribed\":%s,\"sync\":\"%s\",\"where\":[", team->ranks,
                 team->nodes, bench->oversubscribed ? "true" : "false", bench->oversubscribed ? "barrier" : "clock");
        for (int rank = 0; rank < team->ranks; rank++)
            add_place(text, rank, &places[rank]);
        text_add(text, "],\"memory_available\":%" PRId64 ",\"mpi_t\":%s}", -least,
                 bench->settings.mpi_t ? "true" : "false");
        text_send(text);
    }
    free(places);
    return true;
}
