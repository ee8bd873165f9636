/* PMI version 1, as the launchers of MPICH and Intel MPI (Hydra) and Slurm's pmi2 speak it: lines of text through the
 * descriptor PMI_FD. What is put there reaches other nodes only with a barrier, in which every rank would have to take
 * part; names that are published reach them at once. All of them are kept in one list by the launcher's first process,
 * so launches of more than RANKS_MOST are not asked of it. Slurm's list is srun's, and every question a connection to it, of
 * which it took some 2,000 a second where this was tried: fewer ranks ask it, and less often. */
#include "keyspace.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 1024, JOB = 256, RANKS_MOST = 8192, RANKS_OF_SRUN = 512, PATIENCE = 10000 };

struct pmi {
    int file;
    char job[JOB]; /* no other launch of the same launcher has it */
};

static bool say(int file, const char *line)
{
    size_t length = strlen(line);
    ssize_t sent;
    do
        sent = send(file, line, length, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)length; /* a line fits the socket */
}

/* Up to the end of a line, which is left out. */
static bool hear(int file, char line[LINE])
{
    struct pollfd waiting = {.fd = file, .events = POLLIN};
    for (size_t used = 0; used < LINE; used++) {
        int ready;
        do
            ready = poll(&waiting, 1, PATIENCE);
        while (ready < 0 && errno == EINTR);
        if (ready <= 0 || recv(file, line + used, 1, 0) != 1)
            return false;
        if (line[used] == '\n') {
            line[used] = '\0';
            return true;
        }
    }
    return false;
}

/* The value of a field, up to a blank. */
static bool field(const char *line, const char *name, char *value, size_t bytes)
{
    size_t length = strlen(name);
    for (const char *word = line; *word != '\0'; word += strspn(word, " ")) {
        size_t whole = strcspn(word, " ");
        if (whole > length && strncmp(word, name, length) == 0 && word[length] == '=' && whole - length - 1 < bytes) {
            memcpy(value, word + length + 1, whole - length - 1);
            value[whole - length - 1] = '\0';
            return true;
        }
        word += whole;
    }
    return false;
}

static bool ask(int file, const char *question, const char *command, char answer[LINE])
{
    char said[64];
    return say(file, question) && hear(file, answer) && field(answer, "cmd", said, sizeof said) &&
           strcmp(said, command) == 0;
}

/* Hydra says rc=0, Slurm info=ok. */
static bool went_well(const char *answer)
{
    char code[16];
    return field(answer, "rc", code, sizeof code) ? strcmp(code, "0") == 0
                                                  : field(answer, "info", code, sizeof code) && strcmp(code, "ok") == 0;
}

static bool put(const struct keyspace *space, int key, const char *value)
{
    const struct pmi *pmi = space->own;
    char line[2 * LINE], answer[LINE];
    int length = snprintf(line, sizeof line, "cmd=publish_name service=unisono.%s.%d.%d.%d port=%s\n", pmi->job,
                          space->round, key, space->rank, value);
    return length < LINE && ask(pmi->file, line, "publish_result", answer) && went_well(answer);
}

static bool get(const struct keyspace *space, int rank, int key, char value[KEYSPACE_VALUE])
{
    const struct pmi *pmi = space->own;
    char line[LINE], answer[LINE];
    snprintf(line, sizeof line, "cmd=lookup_name service=unisono.%s.%d.%d.%d\n", pmi->job, space->round, key, rank);
    return ask(pmi->file, line, "lookup_result", answer) && went_well(answer) &&
           field(answer, "port", value, KEYSPACE_VALUE);
}

/* The number of the node that a rank is on, by a mapping like (vector,(0,2,4),(2,1,1)): from node 0 on two nodes of four
 * ranks each, and one rank on node 2; over and over. -1: it does not say. */
static int node_of(const char *mapping, int rank)
{
    int first, nodes, each, used, before;
    do {
        before = rank;
        for (const char *at = strchr(mapping, ',');
             at != NULL && sscanf(at, ",(%d,%d,%d)%n", &first, &nodes, &each, &used) == 3; at += used) {
            if (first < 0 || nodes < 1 || each < 1)
                return -1;
            if (rank / each < nodes)
                return first + rank / each;
            rank -= nodes * each;
        }
    } while (rank < before);
    return -1;
}

static void host_of(const struct keyspace *space, int rank, char *host, size_t bytes)
{
    const struct pmi *pmi = space->own;
    char line[LINE], answer[LINE], mapping[LINE];
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=PMI_process_mapping\n", pmi->job);
    host[0] = '\0';
    if (!ask(pmi->file, line, "get_result", answer) || !field(answer, "value", mapping, sizeof mapping))
        return;
    int node = node_of(mapping, rank);
    if (node >= 0 && node == node_of(mapping, space->rank))
        snprintf(host, bytes, "%s", space->host);
    else if (node >= 0)
        snprintf(host, bytes, "number %d of the launch", node + 1);
}

/* The MPI library may have been told to speak another language. */
static bool speaks_lines(void)
{
    const char *version = getenv("MPIR_CVAR_PMI_VERSION"), *intel = getenv("I_MPI_PMI"),
               *library = getenv("I_MPI_PMI_LIBRARY");
    return (version == NULL || strcmp(version, "1") == 0) && (intel == NULL || strcmp(intel, "pmi1") == 0) &&
           (library == NULL || *library == '\0');
}

/* The descriptor; -1: this process was not started with it. */
static int channel(void)
{
    const char *file = getenv("PMI_FD");
    struct stat is;
    return file != NULL && speaks_lines() && fstat(atoi(file), &is) == 0 && S_ISSOCK(is.st_mode) ? atoi(file) : -1;
}

bool keyspace_pmi_fence(void (*meanwhile)(void))
{
    struct pollfd waiting = {.fd = channel(), .events = POLLIN};
    char answer[LINE], said[64];
    if (waiting.fd < 0 || !say(waiting.fd, "cmd=barrier_in\n"))
        return false;
    int ready;
    do {
        if (meanwhile != NULL)
            meanwhile();
        ready = poll(&waiting, 1, meanwhile != NULL ? 0 : -1);
        if (ready == 0)
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    } while (ready == 0 || (ready < 0 && errno == EINTR));
    return ready > 0 && hear(waiting.fd, answer) && field(answer, "cmd", said, sizeof said) &&
           strcmp(said, "barrier_out") == 0;
}

struct keyspace *keyspace_pmi(int rank, int ranks)
{
    const char *number = getenv("PMI_RANK");
    char answer[LINE];
    int file = channel();
    if (file < 0 || number == NULL || atoi(number) != rank || ranks > RANKS_MOST)
        return NULL;
    struct keyspace *space = calloc(1, sizeof *space);
    struct pmi *pmi = calloc(1, sizeof *pmi);
    if (pmi != NULL)
        pmi->file = file;
    bool named = space != NULL && pmi != NULL && ask(pmi->file, "cmd=get_my_kvsname\n", "my_kvsname", answer) &&
                 field(answer, "kvsname", pmi->job, sizeof pmi->job);
    /* Slurm's plugin alone sets this variable: to the job and its step. */
    const char *step = getenv("PMI_JOBID");
    bool of_srun = named && step != NULL && strcmp(step, pmi->job) == 0;
    if (!named || (of_srun && ranks > RANKS_OF_SRUN)) {
        free(pmi);
        free(space);
        return NULL;
    }
    *space = (struct keyspace){.put = put, .get = get, .host_of = host_of, .dear = of_srun, .own = pmi};
    return space;
}
