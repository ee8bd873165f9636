#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char options_help[] =
    "unisono-solver: a cube of hexahedra under uniform tension, linear elasticity, SGS/CG (Nakajima 2009)\n"
    "\n"
    "    mpirun -n 2 unisono-solver --nodes 64 --threads 1 --json\n"
    "\n"
    "  --nodes N or XxYxZ        nodes of the cube (64)\n"
    "  --parts PxQxR             processes in each direction (as near to cubes as can be)\n"
    "  --threads N               OpenMP threads of each process (OMP_NUM_THREADS)\n"
    "  --ordering cmrcm|rcm|multicolour|natural   (cmrcm)\n"
    "  --colours N               colours of cmrcm, raised until valid (10)\n"
    "  --packing single|threads  who packs the halo (single)\n"
    "  --contiguous yes|no       a thread's nodes one after the other in memory (yes)\n"
    "  --first-touch yes|no      memory placed by the thread that uses it (yes)\n"
    "  --kernels auto|avx512|avx2|portable   (auto: measured)\n"
    "  --prefetch auto|none|nta|t0|t1|HINT:BYTES   how and how far ahead the matrix is asked for, t0:3072 (auto:\n"
    "                            measured; HINT alone: its distance is)\n"
    "  --tolerance X             of the residual, relative (1e-8)\n"
    "  --iterations N            at most (5000)\n"
    "  --bandwidth yes|no        bandwidth measured before and after, some 0.5 s (yes)\n"
    "  --beside N                bandwidth measured beside every N iterations, not counted in the time (not at all)\n"
    "  --young X --poisson X --stress X      material and load (1, 0.3, 1)\n"
    "  --json                    one JSON object instead of a table\n";

static bool refuse(struct problem *problem, const char *option, const char *value, const char *wanted)
{
    return problem_set(problem, "%s %s: give %s", option, value, wanted);
}

static bool whole(const char *text, int64_t least, int64_t most, int64_t *value, const char **end)
{
    char *stop;
    errno = 0;
    long long read = strtoll(text, &stop, 10);
    *end = stop;
    *value = read;
    return stop != text && errno == 0 && read >= least && read <= most;
}

static bool single(const char *text, int64_t least, int64_t most, int64_t *value)
{
    const char *end;
    return whole(text, least, most, value, &end) && *end == '\0';
}

/* "64" (if one number may stand for three) or "64x32x16". */
static bool triple(const char *text, bool one_for_all, int64_t least, int64_t values[3])
{
    const char *end = text;
    for (int d = 0; d < 3; d++) {
        if (!whole(d == 0 ? text : end + 1, least, INT32_MAX, &values[d], &end))
            return false;
        if (d == 0 && one_for_all && *end == '\0') {
            values[1] = values[2] = values[0];
            return true;
        }
        if (*end != (d < 2 ? 'x' : '\0'))
            return false;
    }
    return true;
}

static bool number(const char *text, double least, double most, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value) && *value > least && *value < most;
}

static bool choice(const char *text, const char *yes, const char *no, bool *value)
{
    *value = strcmp(text, yes) == 0;
    return *value || strcmp(text, no) == 0;
}

/* -1: auto. */
static bool named(const char *text, const char *const *names, int count, int *value)
{
    for (*value = 0; *value < count; ++*value)
        if (strcmp(text, names[*value]) == 0)
            return true;
    *value = -1;
    return strcmp(text, "auto") == 0;
}

/* "t0" or "t0:3072". */
static bool prefetch(const char *text, struct wish *wish)
{
    char hint[8];
    int64_t bytes = 0;
    const size_t length = strcspn(text, ":");
    if (length >= sizeof hint)
        return false;
    memcpy(hint, text, length);
    hint[length] = '\0';
    if (!named(hint, hint_names, HINTS, &wish->hint))
        return false;
    if (text[length] == ':' && (wish->hint <= HINT_NONE || !single(text + length + 1, AHEAD_LEAST, AHEAD_MOST, &bytes)))
        return false;
    wish->ahead = (int)bytes;
    return true;
}

static bool take(struct options *options, const char *option, const char *value, struct problem *problem)
{
    int64_t n, three[3];
    if (strcmp(option, "--nodes") == 0) {
        if (!triple(value, true, 2, options->nodes))
            return refuse(problem, option, value, "a number or XxYxZ, each at least 2");
    } else if (strcmp(option, "--parts") == 0) {
        if (!triple(value, false, 1, three))
            return refuse(problem, option, value, "PxQxR, each at least 1");
        for (int d = 0; d < 3; d++)
            options->parts[d] = (int)three[d];
    } else if (strcmp(option, "--threads") == 0) {
        if (!single(value, 1, 4096, &n))
            return refuse(problem, option, value, "a number from 1");
        options->threads = (int)n;
    } else if (strcmp(option, "--colours") == 0) {
        if (!single(value, 2, 1000000, &n))
            return refuse(problem, option, value, "a number from 2");
        options->colours = (int)n;
    } else if (strcmp(option, "--iterations") == 0) {
        if (!single(value, 1, 100000000, &n))
            return refuse(problem, option, value, "a number from 1");
        options->limit = (int)n;
    } else if (strcmp(option, "--beside") == 0) {
        if (!single(value, 1, 100000000, &n))
            return refuse(problem, option, value, "a number from 1");
        options->beside = (int)n;
    } else if (strcmp(option, "--bandwidth") == 0) {
        return choice(value, "yes", "no", &options->bandwidth) || refuse(problem, option, value, "yes or no");
    } else if (strcmp(option, "--ordering") == 0) {
        int k = 0;
        while (k < ORDERINGS && strcmp(value, ordering_names[k]) != 0)
            k++;
        if (k == ORDERINGS)
            return refuse(problem, option, value, "cmrcm, rcm, multicolour or natural");
        options->ordering = (enum ordering)k;
    } else if (strcmp(option, "--packing") == 0) {
        return choice(value, "threads", "single", &options->threaded_packing) ||
               refuse(problem, option, value, "single or threads");
    } else if (strcmp(option, "--contiguous") == 0) {
        return choice(value, "yes", "no", &options->contiguous) || refuse(problem, option, value, "yes or no");
    } else if (strcmp(option, "--first-touch") == 0) {
        return choice(value, "yes", "no", &options->first_touch) || refuse(problem, option, value, "yes or no");
    } else if (strcmp(option, "--kernels") == 0) {
        if (!named(value, form_names, FORMS, &options->wish.form))
            return refuse(problem, option, value, "auto, portable, avx2 or avx512");
    } else if (strcmp(option, "--prefetch") == 0) {
        return prefetch(value, &options->wish) ||
               refuse(problem, option, value, "auto, none, nta, t0, t1, or one of these three with bytes: t0:3072");
    } else if (strcmp(option, "--tolerance") == 0) {
        return number(value, 0, 1, &options->tolerance) || refuse(problem, option, value, "a number between 0 and 1");
    } else if (strcmp(option, "--young") == 0) {
        return number(value, 0, HUGE_VAL, &options->young) || refuse(problem, option, value, "a number above 0");
    } else if (strcmp(option, "--poisson") == 0) {
        return number(value, -1, 0.5, &options->poisson) ||
               refuse(problem, option, value, "a number between -1 and 0.5");
    } else if (strcmp(option, "--stress") == 0) {
        return number(value, -HUGE_VAL, HUGE_VAL, &options->stress) || refuse(problem, option, value, "a number");
    } else {
        return problem_set(problem, "%s: unknown; --help says what there is", option);
    }
    return true;
}

bool options_read(struct options *options, int argc, char **argv, struct problem *problem)
{
    *options = (struct options){.nodes = {64, 64, 64},
                                .ordering = ORDER_CMRCM,
                                .colours = 10,
                                .limit = 5000,
                                .tolerance = 1e-8,
                                .young = 1,
                                .poisson = 0.3,
                                .stress = 1,
                                .contiguous = true,
                                .first_touch = true,
                                .bandwidth = true,
                                .wish = {-1, -1, 0}};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            options->json = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            options->help = true;
        } else if (i + 1 == argc) {
            return problem_set(problem, "%s: unknown or without a value; --help says what there is", argv[i]);
        } else if (!take(options, argv[i], argv[i + 1], problem)) {
            return false;
        } else {
            i++;
        }
    }
    return true;
}
