#include "implementation.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

static struct implementation known[IMPLEMENTATIONS_MOST];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char ours[] = "unisono/", tuned[] = "tuned/", libnbc[] = "libnbc/";

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!(islower((unsigned char)text[i]) || isdigit((unsigned char)text[i]) || text[i] == '_' || text[i] == '-'))
            return false;
    return length > 0;
}

/* ":SEGMENT", or nothing at all. */
static bool read_segment(const char *text, int64_t *segment)
{
    *segment = 0;
    if (*text == '\0')
        return true;
    for (text++; isdigit((unsigned char)*text) && *segment <= INT32_MAX; text++)
        *segment = *segment * 10 + (*text - '0');
    return *text == '\0' && *segment > 0 && *segment <= INT32_MAX;
}

/* Fills in all but the collective and the word, from these. */
static bool understand(struct implementation *made, struct problem *problem)
{
    const char *word = made->word, *name = word;
    if (strcmp(word, "mpi") == 0) {
        made->kind = BY_MPI;
        return true;
    }
    made->kind = strncmp(word, ours, strlen(ours)) == 0       ? BY_OURS
                 : strncmp(word, tuned, strlen(tuned)) == 0   ? BY_TUNED
                 : strncmp(word, libnbc, strlen(libnbc)) == 0 ? BY_LIBNBC
                                                              : BY_COMPONENT;
    if (made->kind == BY_LIBNBC && !collective_is_nonblocking(made->collective))
        return problem_set(problem, "'%.60s': coll/libnbc serves nonblocking collectives, %s blocks", word,
                           collective_names[made->collective]);
    if (made->kind != BY_OURS && collective_is_near(made->collective)) /* a copy would not know the neighbours */
        return problem_set(problem, "'%.60s': %s is served by unisono/... or mpi", word,
                           collective_names[made->collective]);
    if (made->kind != BY_COMPONENT)
        name = strchr(word, '/') + 1;
    size_t length = strcspn(name, ":");
    if (!is_name(name, length) || (made->kind == BY_COMPONENT && name[length] != '\0'))
        return problem_set(problem, "'%.60s' is not an implementation", word);
    if (!read_segment(name + length, &made->segment))
        return problem_set(problem, "'%.60s': a segment is a whole number of bytes", word);
    memcpy(made->name, name, length);
    made->name[length] = '\0';
    if (made->kind == BY_LIBNBC && made->segment != 0)
        return problem_set(problem, "'%.60s': coll/libnbc cuts no segments", word);
    if (made->kind != BY_OURS)
        return true;
    made->algorithm = algorithm_find(made->collective, made->name);
    if (made->algorithm == NULL)
        return problem_set(problem, "there is no algorithm '%.60s' for %s", word, collective_names[made->collective]);
    if (made->segment != 0 && made->algorithm->segment == 0)
        return problem_set(problem, "'%.60s': this algorithm has no segments", word);
    return true;
}

const struct implementation *implementation_find(enum collective collective, const char *word, size_t length,
                                                 struct problem *problem)
{
    struct implementation made = {.collective = collective}, *found = NULL;
    if (length == 0 || length >= sizeof made.word || memchr(word, '\0', length) != NULL) {
        problem_set(problem, "'%.*s' is not an implementation", (int)(length < 60 ? length : 60), word);
        return NULL;
    }
    memcpy(made.word, word, length);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count && found == NULL; i++)
        if (known[i].collective == collective && strcmp(known[i].word, made.word) == 0)
            found = &known[i];
    if (found == NULL && understand(&made, problem)) {
        if (count == IMPLEMENTATIONS_MOST) {
            problem_set(problem, "more than %d implementations", IMPLEMENTATIONS_MOST);
        } else {
            found = &known[count];
            *found = made;
            __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

const struct implementation *implementation_as(const struct implementation *one, enum collective collective)
{
    struct problem problem = {""};
    const struct implementation *found = implementation_find(collective, one->word, strlen(one->word), &problem);
    if (found != NULL)
        ((struct implementation *)(uintptr_t)found)->number = one->number;
    return found != NULL ? found : one;
}

const struct implementation *implementation_mpi(enum collective collective)
{
    struct problem problem = {""};
    return implementation_find(collective, "mpi", 3, &problem);
}

struct implementation *implementation_at(int index)
{
    return index < __atomic_load_n(&count, __ATOMIC_ACQUIRE) ? &known[index] : NULL;
}
