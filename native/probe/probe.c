/* What an MPI launch really took: its parameters, UCX's configuration, and which collectives answer with an error.
 *
 * Started under mpirun by unisono.export.check with words of five kinds:
 *   where                  host and CPUs (affinity mask) of every rank
 *   begun=FILE             that MPI_Init has returned, and the shared memory that is mapped: what a program that is ended leaves behind.
 *                          Every rank adds to the file, because any of them may be the one that ends the program before others
 *                          have begun, and a launcher that ends a program may lose what it has printed.
 *   cvar=NAME              the value of an MCA parameter, as MPI_T reads it inside the launch
 *   ucx=NAME=VALUE         UCX's configuration as it is, and as it would be were NAME=VALUE in the environment
 *   call=COLLECTIVE:BYTES  one call (message size as IMB counts it) on all ranks, then on all but the last
 * The answers are lines `@P {json}` of rank 0, each in one write. What libraries print on other ranks goes to standard error.
 * Errors are returned, not fatal: a rule with an impossible algorithm makes exactly the calls fail that it applies to, which is how a
 * rule is seen to apply.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"

static int world_rank;

/* Between these two, rank 0 prints an answer with nothing else within it: UCX prints to the same stream what it has to say, from threads of
 * its own too, and a launcher may put another rank's output between two writes. */
static void begin_answer(void)
{
    flockfile(stdout);
    fflush(stdout);
}

static void end_answer(void)
{
    fflush(stdout);
    funlockfile(stdout);
}

static void put_line(const char *line)
{
    begin_answer();
    fputs(line != NULL ? line : "", stdout);
    end_answer();
}

static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; ++text) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void put_text(const char *text)
{
    write_text(stdout, text);
}

/* ---- Where a rank is ---- */

/* One line, to be freed. */
static char *place(void)
{
    char host[MPI_MAX_PROCESSOR_NAME], *text = NULL;
    int length;
    size_t bytes;
    cpu_set_t cpus;
    FILE *out = open_memstream(&text, &bytes);
    if (out == NULL)
        return NULL;
    MPI_Get_processor_name(host, &length);
    fprintf(out, "@P {\"rank\":%d,\"host\":", world_rank);
    write_text(out, host);
    fprintf(out, ",\"cpus\":[");
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) {
        const char *comma = "";
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &cpus)) {
                fprintf(out, "%s%d", comma, cpu);
                comma = ",";
            }
    }
    fprintf(out, "]}\n");
    return fclose(out) == 0 ? text : NULL;
}

/* Rank 0 prints what the others send it: launchers may put one rank's output into the midst of another's line. By messages, since
 * the rules of collectives are under test. */
static void answer_where(int ranks)
{
    enum { TAG = 1 };
    char *mine = place();
    if (world_rank > 0) {
        MPI_Send(mine, mine != NULL ? (int)strlen(mine) : 0, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
        free(mine);
        return;
    }
    put_line(mine);
    free(mine);
    for (int rank = 1; rank < ranks; rank++) {
        MPI_Status status;
        int bytes = 0;
        MPI_Probe(rank, TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &bytes);
        char *text = calloc(1, (size_t)bytes + 1);
        MPI_Recv(text, text != NULL ? bytes : 0, MPI_CHAR, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        put_line(text);
        free(text);
    }
}

/* ---- What a rank shares ---- */

/* A line of maps is: addresses, rights, offset, device, inode, path; a file without a name any more ends in " (deleted)". */
static void answer_begun(const char *file)
{
    static const char gone[] = " (deleted)";
    char line[PATH_MAX + 128];
    FILE *maps = fopen("/proc/self/maps", "r"), *out = fopen(file, "a");
    while (maps != NULL && out != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *path = strstr(line, "/dev/shm/");
        unsigned long inode;
        if (path == NULL || sscanf(line, "%*s %*s %*s %*s %lu", &inode) != 1)
            continue;
        path[strcspn(path, "\n")] = '\0';
        size_t end = strlen(path), most = sizeof gone - 1;
        if (end > most && strcmp(path + end - most, gone) == 0)
            continue;
        fprintf(out, "%lu %s\n", inode, path);
    }
    if (maps != NULL)
        fclose(maps);
    if (out != NULL)
        fclose(out);
}

/* ---- MCA parameters ---- */

static void put_value(MPI_Datatype type, const void *value)
{
    char text[64];
    if (type == MPI_CHAR) {
        put_text(value);
        return;
    }
    if (type == MPI_INT)
        snprintf(text, sizeof text, "%d", *(const int *)value);
    else if (type == MPI_UNSIGNED)
        snprintf(text, sizeof text, "%u", *(const unsigned *)value);
    else if (type == MPI_UNSIGNED_LONG)
        snprintf(text, sizeof text, "%lu", *(const unsigned long *)value);
    else if (type == MPI_UNSIGNED_LONG_LONG)
        snprintf(text, sizeof text, "%llu", *(const unsigned long long *)value);
    else if (type == MPI_LONG)
        snprintf(text, sizeof text, "%ld", *(const long *)value);
    else if (type == MPI_DOUBLE)
        snprintf(text, sizeof text, "%g", *(const double *)value);
    else if (type == MPI_C_BOOL)
        snprintf(text, sizeof text, "%d", (int)*(const bool *)value);
    else
        snprintf(text, sizeof text, "(a type the probe cannot print)");
    put_text(text);
}

/* The name of an enumerator's value ("ring" for 4), empty when there is none. */
static void enum_name(MPI_T_enum names, int value, char *out, int size)
{
    int items = 0;
    out[0] = '\0';
    if (names == MPI_T_ENUM_NULL || MPI_T_enum_get_info(names, &items, NULL, &(int){0}) != MPI_SUCCESS)
        return;
    for (int item = 0; item < items; ++item) {
        int number, length = size;
        if (MPI_T_enum_get_item(names, item, &number, out, &length) == MPI_SUCCESS && number == value)
            return;
    }
    out[0] = '\0';
}

static void answer_cvar(const char *name)
{
    int index, verbosity, binding, scope, count = 0;
    MPI_Datatype type;
    MPI_T_enum names;
    MPI_T_cvar_handle handle;
    bool known = MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
                 MPI_T_cvar_get_info(index, NULL, &(int){0}, &verbosity, &type, &names, NULL, &(int){0}, &binding,
                                     &scope) == MPI_SUCCESS &&
                 MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS;
    begin_answer();
    printf("@P {\"cvar\":");
    put_text(name);
    if (known) {
        /* A text's `count` is its longest length, any other parameter is one scalar. */
        char *value = calloc((size_t)count + 1, sizeof(long long));
        char label[128];
        MPI_T_cvar_read(handle, value);
        enum_name(names, type == MPI_INT ? *(int *)(void *)value : -1, label, (int)sizeof label);
        printf(",\"known\":true,\"value\":");
        put_value(type, value);
        printf(",\"label\":");
        put_text(label);
        free(value);
        MPI_T_cvar_handle_free(&handle);
    } else {
        printf(",\"known\":false");
    }
    printf("}\n");
    end_answer();
}

/* ---- UCX ---- */

typedef int (*config_read)(const char *prefix, const char *file, void **config);
typedef void (*config_print)(const void *config, FILE *stream, const char *title, int flags);
typedef void (*config_release)(void *config);

/* The line of UCX's own configuration report that is about one variable, without its line end; NULL: none. The
 * functions are looked up in the libucp this launch loaded, so there is nothing to link and no version to match. */
static char *ucx_line(void *ucp, const char *name)
{
    config_read read_config;
    config_print print_config;
    config_release release_config;
    void *config;
    *(void **)&read_config = dlsym(ucp, "ucp_config_read");
    *(void **)&print_config = dlsym(ucp, "ucp_config_print");
    *(void **)&release_config = dlsym(ucp, "ucp_config_release");
    if (read_config == NULL || print_config == NULL || release_config == NULL || read_config(NULL, NULL, &config) != 0)
        return NULL;
    char *text = NULL, *found = NULL;
    size_t length = 0, wanted = strlen(name);
    FILE *stream = open_memstream(&text, &length);
    print_config(config, stream, NULL, 1 /* UCS_CONFIG_PRINT_CONFIG */);
    fclose(stream);
    release_config(config);
    for (char *line = strtok(text, "\n"); line != NULL && found == NULL; line = strtok(NULL, "\n"))
        if (strncmp(line, name, wanted) == 0 && line[wanted] == '=')
            found = strdup(line + wanted + 1);
    free(text);
    return found;
}

static void answer_ucx(const char *word)
{
    const char *equals = strchr(word, '=');
    void *ucp = dlopen("libucp.so.0", RTLD_NOLOAD | RTLD_LAZY);
    if (equals == NULL)
        return;
    char *name = strndup(word, (size_t)(equals - word));
    char *used = NULL, *wanted = NULL;
    if (ucp != NULL) {
        const char *before = getenv(name);
        char *kept = before != NULL ? strdup(before) : NULL;
        used = ucx_line(ucp, name);
        setenv(name, equals + 1, 1);
        wanted = ucx_line(ucp, name);
        if (kept != NULL)
            setenv(name, kept, 1);
        else
            unsetenv(name);
        free(kept);
    }
    begin_answer();
    printf("@P {\"ucx\":");
    put_text(name);
    printf(",\"loaded\":%s,\"known\":%s", ucp != NULL ? "true" : "false", used != NULL ? "true" : "false");
    if (used != NULL && wanted != NULL) {
        printf(",\"used\":");
        put_text(used);
        printf(",\"wanted\":");
        put_text(wanted);
    }
    printf("}\n");
    end_answer();
    free(used);
    free(wanted);
    free(name);
}

/* ---- Calls ---- */

static void answer_call(const char *word, MPI_Comm comm)
{
    const char *colon = strchr(word, ':');
    if (colon == NULL || comm == MPI_COMM_NULL)
        return;
    long bytes = strtol(colon + 1, NULL, 10);
    int ranks, error;
    MPI_Comm_size(comm, &ranks);
    if (bytes < 0 || bytes > INT_MAX / ranks) {
        fprintf(stderr, "unisono-probe: %s is too large for one call\n", word);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    char *collective = strndup(word, (size_t)(colon - word));
    error = call_once(collective, (int)bytes, comm);
    if (world_rank == 0) {
        begin_answer();
        printf("@P {\"call\":");
        put_text(collective);
        printf(",\"bytes\":%ld,\"ranks\":%d,\"failed\":%s}\n", bytes, ranks, error != MPI_SUCCESS ? "true" : "false");
        end_answer();
    }
    free(collective);
}

/* All ranks but the last, made without a collective over the world, whose rules are under test. */
static MPI_Comm all_but_last(int ranks)
{
    MPI_Group all, most;
    MPI_Comm comm = MPI_COMM_NULL;
    if (ranks < 3)
        return comm;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, (int[]){ranks - 1}, &most);
    if (world_rank < ranks - 1) {
        MPI_Comm_create_group(MPI_COMM_WORLD, most, 1, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    MPI_Group_free(&most);
    MPI_Group_free(&all);
    return comm;
}

int main(int argc, char **argv)
{
    int provided, ranks;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    char first[64];
    snprintf(first, sizeof first, "@P {\"ranks\":%d}\n", ranks);
    if (world_rank == 0)
        put_line(first);
    else
        dup2(STDERR_FILENO, STDOUT_FILENO);
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "where") == 0)
            answer_where(ranks);
        else if (strncmp(argv[i], "begun=", 6) == 0)
            answer_begun(argv[i] + 6);
        else if (world_rank == 0 && strncmp(argv[i], "cvar=", 5) == 0)
            answer_cvar(argv[i] + 5);
        else if (world_rank == 0 && strncmp(argv[i], "ucx=", 4) == 0)
            answer_ucx(argv[i] + 4);
    }
    MPI_Comm most = all_but_last(ranks);
    for (int i = 1; i < argc; ++i)
        if (strncmp(argv[i], "call=", 5) == 0) {
            answer_call(argv[i] + 5, MPI_COMM_WORLD);
            answer_call(argv[i] + 5, most);
        }
    if (most != MPI_COMM_NULL)
        MPI_Comm_free(&most);
    if (world_rank == 0)
        put_line("@P {\"done\":true}\n");
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
