#include "coordinates.h"

#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "inquiry.h"

enum { WORDS = 2 + TORUS_MOST, WORD = 256, LONGEST_FILE = 1 << 26, MOST_PLACES = 1 << 24 };

/* A line taken apart. */
struct line {
    int words;
    char word[WORDS][WORD];
};

static const char *take_apart(const char *text, struct line *line)
{
    line->words = 0;
    for (;;) {
        while (*text == ' ' || *text == '\t' || *text == '\r')
            text++;
        if (*text == '\0' || *text == '\n' || *text == '#')
            break;
        size_t length = strcspn(text, " \t\r\n#");
        if (line->words < WORDS && length < WORD) {
            memcpy(line->word[line->words], text, length);
            line->word[line->words][length] = '\0';
        }
        line->words += length < WORD ? 1 : WORDS + 1; /* too long: a line that nobody understands */
        text += length;
    }
    text += strcspn(text, "\n");
    return *text == '\n' ? text + 1 : text;
}

/* A whole number and nothing else; -1: it is not. */
static int number_of(const char *word)
{
    char *end;
    if (!isdigit((unsigned char)*word))
        return -1;
    long value = strtol(word, &end, 10);
    return *end == '\0' && value < MOST_PLACES ? (int)value : -1;
}

static bool read_extents(const char *word, struct torus *machine)
{
    int64_t places = 1;
    machine->dimensions = 0;
    for (;;) {
        char *end;
        long extent = isdigit((unsigned char)*word) ? strtol(word, &end, 10) : 0;
        if (extent < 1 || extent > MOST_PLACES || machine->dimensions == TORUS_MOST)
            return false;
        machine->extent[machine->dimensions++] = (int)extent;
        if ((places *= extent) > MOST_PLACES)
            return false;
        if (*end == '\0')
            return true;
        if (*end != 'x')
            return false;
        word = end + 1;
    }
}

static bool read_wraps(const struct line *line, struct torus *machine)
{
    int said = line->words - 2;
    if (said != 1 && said != machine->dimensions)
        return false;
    for (int d = 0; d < machine->dimensions; d++) {
        const char *word = line->word[2 + (said == 1 ? 0 : d)];
        machine->wraps[d] = strcmp(word, "torus") == 0;
        if (!machine->wraps[d] && strcmp(word, "mesh") != 0)
            return false;
    }
    return true;
}

/* The place that a host's name tells by a pattern; -1: the name is not of that kind. */
static int named(const char *pattern, const char *host, const struct torus *machine)
{
    static const char letters[] = "xyzuvw";
    int at[TORUS_MOST] = {0}, place = -1;
    while (*pattern != '\0') {
        if (*pattern != '%') {
            if (*pattern++ != *host++)
                return -1;
            continue;
        }
        char field = pattern[1];
        if (!isdigit((unsigned char)*host))
            return -1;
        char *end;
        long value = strtol(host, &end, 10);
        host = end;
        pattern += 2;
        if (field == 'n') {
            place = value < torus_places(machine) ? (int)value : -1;
            continue;
        }
        int dimension = (int)(strchr(letters, field) - letters);
        if (value >= machine->extent[dimension])
            return -1;
        at[dimension] = (int)value;
        place = torus_place(machine, at);
    }
    return *host == '\0' || *host == '.' ? place : -1;
}

/* Every coordinate once, or the place once. */
static bool is_pattern(const char *pattern, const struct torus *machine)
{
    static const char letters[] = "xyzuvw";
    int fields = 0, numbers = 0;
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '%')
            continue;
        const char *letter = *++pattern == '\0' ? NULL : strchr(letters, *pattern);
        if (*pattern == 'n')
            numbers++;
        else if (letter == NULL || letter - letters >= machine->dimensions)
            return false;
        else if ((fields & 1 << (letter - letters)) != 0)
            return false;
        else
            fields |= 1 << (letter - letters);
    }
    return numbers == 1 ? fields == 0 : numbers == 0 && fields == (1 << machine->dimensions) - 1;
}

static bool same_host(const char *word, const char *host)
{
    size_t length = strlen(word);
    return strncmp(word, host, length) == 0 && (host[length] == '\0' || (host[length] == '.' && !strchr(word, '.')));
}

/* One line; NULL, or what is wrong with it. */
static const char *obey(const struct line *line, const char *host, int number, struct torus *machine, int *place)
{
    if (line->words > WORDS)
        return "too many words, or too long ones";
    bool grid = strcmp(line->word[0], "grid") == 0;
    if (grid || strcmp(line->word[0], "extents") == 0) {
        if (machine->dimensions > 0)
            return "the extents are given twice";
        if (line->words < 3 || !read_extents(line->word[1], machine) || !read_wraps(line, machine))
            return "expected extents like 8x8x6 and then `torus` or `mesh`, once or for each dimension";
        if (grid)
            *place = number < torus_places(machine) ? number : -1;
        return NULL;
    }
    if (machine->dimensions == 0)
        return "expected `extents 8x8x6 torus` or `grid 8x8x6 torus` first";
    if (strcmp(line->word[0], "names") == 0) {
        if (line->words != 2 || !is_pattern(line->word[1], machine))
            return "expected a pattern with each coordinate once, like n%x-%y-%z, or with %n";
        if (*place < 0)
            *place = named(line->word[1], host, machine);
        return NULL;
    }
    int at[TORUS_MOST];
    for (int d = 0; d < machine->dimensions; d++) {
        at[d] = line->words == machine->dimensions + 1 ? number_of(line->word[1 + d]) : -1;
        if (at[d] < 0 || at[d] >= machine->extent[d])
            return "expected a host and its coordinates, each below its extent";
    }
    if (same_host(line->word[0], host))
        *place = torus_place(machine, at);
    return NULL;
}

bool coordinates_read(const char *text, const char *host, int number, struct torus *machine, int *place, char *reason,
                      size_t room)
{
    *machine = (struct torus){0};
    *place = -1;
    for (int count = 1; *text != '\0'; count++) {
        struct line line;
        text = take_apart(text, &line);
        const char *wrong = line.words == 0 ? NULL : obey(&line, host, number, machine, place);
        if (wrong != NULL) {
            snprintf(reason, room, "line %d: %s", count, wrong);
            return false;
        }
    }
    if (machine->dimensions == 0)
        snprintf(reason, room, "it says no extents");
    return machine->dimensions > 0;
}

/* The whole file with a zero at its end; NULL: it cannot be read. */
static char *load(const char *path, long *bytes)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (*bytes = ftell(file)) >= 0 && *bytes < LONGEST_FILE &&
        fseek(file, 0, SEEK_SET) == 0 && (text = malloc((size_t)*bytes + 1)) != NULL) {
        *bytes = (long)fread(text, 1, (size_t)*bytes, file);
        text[*bytes] = '\0';
    }
    if (file != NULL)
        fclose(file);
    return text;
}

static int stop(int rank, const char *path, const char *reason)
{
    if (rank == 0) {
        fprintf(stderr, "unisono: UNISONO_TOPOLOGY=%s: %s\n", path, reason);
        failure_end_job(2);
    }
    PMPI_Barrier(MPI_COMM_WORLD); /* the others wait for their end, so that only one line is printed */
    return MPI_ERR_ARG;
}

/* The place of every rank's node, on all ranks, and a line if not all are known. */
static int hand_round(int place, const char *teller, int *places)
{
    int rank, ranks;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int error = PMPI_Allgather(&place, 1, MPI_INT, places, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; i++)
        if (places[i] < 0) {
            fprintf(stderr, "unisono: %s: says nothing of the node of rank %d; communicators with it are no cuboids\n",
                    teller, i);
            break;
        }
    return error;
}

/* What rank 0 was told to read, as the others hear of it: how many bytes, or one of these. */
enum { NO_FILE = -1, UNREADABLE = -2, NOT_ASKED = -3 };

static long open_file(const char *path, char **text)
{
    long bytes;
    if (path == NULL || *path == '\0')
        return NO_FILE;
    if (strcmp(path, "none") == 0)
        return NOT_ASKED;
    return (*text = load(path, &bytes)) != NULL ? bytes : UNREADABLE;
}

/* Without a file: the MPI library, or the scheduler. */
static int ask(const char *host, struct whereabouts *found, int *places)
{
    int place, error = inquiry_start(&found->machine, &place, &found->teller);
    if (error != MPI_SUCCESS)
        return error;
    if (found->machine.dimensions > 0)
        return hand_round(place, found->teller, places);
    const char *address = getenv("SLURM_TOPOLOGY_ADDR"), *pattern = getenv("SLURM_TOPOLOGY_ADDR_PATTERN");
    if (address != NULL && pattern != NULL)
        found->address = switches_of_job(address, pattern, host);
    found->teller = "Slurm";
    return MPI_SUCCESS;
}

int coordinates_start(int number, struct whereabouts *found, int *places)
{
    char host[MPI_MAX_PROCESSOR_NAME], reason[200], *text = NULL;
    int rank, length, place;
    *found = (struct whereabouts){.taper = TAPER};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Get_processor_name(host, &length);
    const char *path = rank == 0 ? getenv("UNISONO_TOPOLOGY") : NULL;
    long bytes = rank == 0 ? open_file(path, &text) : NO_FILE;
    int error = PMPI_Bcast(&bytes, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (error != MPI_SUCCESS || bytes == NOT_ASKED)
        return error;
    if (bytes == NO_FILE)
        return ask(host, found, places);
    if (bytes == UNREADABLE)
        return stop(rank, path, "it cannot be read");
    if (rank != 0)
        text = calloc((size_t)bytes + 1, 1);
    int has_room = text != NULL, all_have = 0;
    error = PMPI_Allreduce(&has_room, &all_have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (error != MPI_SUCCESS || !all_have) {
        free(text);
        return error != MPI_SUCCESS ? error : MPI_ERR_NO_MEM;
    }
    PMPI_Bcast(text, (int)bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    bool switches = switches_are_in(text);
    bool good = switches ? switches_read(text, host, number, &found->address, &found->taper, reason, sizeof reason)
                         : coordinates_read(text, host, number, &found->machine, &place, reason, sizeof reason);
    free(text);
    if (!good) /* all ranks read the same text, and so find the same mistake */
        return stop(rank, path, reason);
    found->teller = "UNISONO_TOPOLOGY";
    found->says_switches = switches;
    return switches ? MPI_SUCCESS : hand_round(place, found->teller, places);
}
