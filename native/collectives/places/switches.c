#include "switches.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_BRACKETS = 3, MOST_DIGITS = 9, MOST_DEPTH = 16, NUMBER_BYTES = 16 };
static const double most_taper = 1000;

/* A stretch of the text; `at` is NULL where there is none. */
struct piece {
    const char *at;
    size_t length;
};

static const char *end_of(struct piece piece)
{
    return piece.at + piece.length;
}

static bool is_word(struct piece piece, const char *word)
{
    return piece.length == strlen(word) && strncasecmp(piece.at, word, piece.length) == 0;
}

/* One line; all of it is missing in a line that says nothing. */
struct entry {
    struct piece name, nodes, switches, taper;
};

/* Blanks, and a line's end that is none. */
static const char *skip_blanks(const char *text)
{
    for (;;) {
        if (*text == ' ' || *text == '\t' || *text == '\r')
            text++;
        else if (text[0] == '\\' && text[1] == '\n')
            text += 2;
        else if (text[0] == '\\' && text[1] == '\r' && text[2] == '\n')
            text += 3;
        else
            return text;
    }
}

static struct piece next_word(const char **text)
{
    const char *at = skip_blanks(*text);
    size_t length = *at == '#' ? 0 : strcspn(at, " \t\r\n#");
    if (length > 0 && at[length - 1] == '\\' && (at[length] == '\n' || at[length] == '\r'))
        length--;
    *text = at + length;
    return (struct piece){at, length};
}

/* The elements of a list are apart by commas that are not in brackets; an empty one at its end. */
static struct piece next_element(struct piece *list)
{
    struct piece element = {list->at, 0};
    bool inside = false;
    while (element.length < list->length && (inside || element.at[element.length] != ',')) {
        inside = element.at[element.length] == '[' || (inside && element.at[element.length] != ']');
        element.length++;
    }
    size_t taken = element.length < list->length ? element.length + 1 : element.length;
    list->at += taken;
    list->length -= taken;
    return element;
}

static size_t digits(const char *at, const char *end)
{
    size_t count = 0;
    while (at + count < end && isdigit((unsigned char)at[count]))
        count++;
    return count;
}

static long number_of(const char *at, size_t length)
{
    long value = 0;
    for (size_t i = 0; i < length; i++)
        value = 10 * value + (at[i] - '0');
    return value;
}

/* "3", or "3-12" or "003-120": of the first as many digits at least. False at something else. */
struct range {
    long from, to;
    size_t width;
};

static bool next_range(const char **at, const char *end, struct range *range)
{
    size_t length = digits(*at, end);
    if (length == 0 || length > MOST_DIGITS)
        return false;
    *range = (struct range){number_of(*at, length), number_of(*at, length), length};
    *at += length;
    if (*at < end && **at == '-') {
        length = digits(++*at, end);
        if (length == 0 || length > MOST_DIGITS)
            return false;
        range->to = number_of(*at, length);
        *at += length;
    }
    if (*at < end && *(*at)++ != ',')
        return false;
    return range->from <= range->to && !(*at == end && (*at)[-1] == ',');
}

static bool are_ranges(const char *at, const char *end)
{
    struct range range;
    bool good = at < end;
    while (good && at < end)
        good = next_range(&at, end, &range);
    return good;
}

static bool is_list(struct piece list)
{
    if (list.length == 0 || list.at[list.length - 1] == ',')
        return false;
    while (list.length > 0) {
        struct piece element = next_element(&list);
        const char *at = element.at, *end = end_of(element);
        int brackets = 0;
        for (; at < end && *at != ']'; at++) {
            if (*at != '[')
                continue;
            const char *close = memchr(at, ']', (size_t)(end - at));
            if (close == NULL || ++brackets > MOST_BRACKETS || !are_ranges(at + 1, close))
                return false;
            at = close;
        }
        if (element.length == 0 || at < end)
            return false;
    }
    return true;
}

/* Whether so many digits are a number of these ranges, as Slurm would write it. */
static bool is_within(const char *at, const char *end, const char *name, size_t length)
{
    struct range range;
    long value = number_of(name, length);
    while (at < end && next_range(&at, end, &range))
        if (value >= range.from && value <= range.to &&
            (length == range.width || (length > range.width && name[0] != '0')))
            return true;
    return false;
}

/* Whether an element of a list, from `at` on, is this name, which may go on with a domain. */
static bool matches(const char *at, const char *end, struct piece name, bool dotted)
{
    for (; at < end && *at != '['; at++, name.at++, name.length--) {
        if (name.length == 0 || *at != *name.at)
            return false;
        dotted = dotted || *at == '.';
    }
    if (at == end)
        return name.length == 0 || (*name.at == '.' && !dotted);
    const char *close = memchr(at, ']', (size_t)(end - at));
    size_t most = digits(name.at, end_of(name));
    for (size_t length = 1; length <= most && length <= MOST_DIGITS; length++)
        if (is_within(at + 1, close, name.at, length) &&
            matches(close + 1, end, (struct piece){name.at + length, name.length - length}, dotted))
            return true;
    return false;
}

static bool is_in(struct piece list, struct piece name)
{
    while (list.length > 0) {
        struct piece element = next_element(&list);
        if (matches(element.at, end_of(element), name, false))
            return true;
    }
    return false;
}

static const char *check(const struct entry *entry, int words)
{
    bool named = entry->name.at != NULL;
    if (words == 0)
        return NULL;
    if (entry->taper.at != NULL)
        return words == 2 ? NULL : "expected `taper` and a number";
    if (!named && (entry->nodes.at != NULL || entry->switches.at != NULL))
        return "expected SwitchName=NAME first";
    if (named && entry->name.length == 0)
        return "expected a name behind SwitchName=";
    if (named && entry->nodes.at == NULL && entry->switches.at == NULL)
        return "expected Nodes=LIST or Switches=LIST behind a switch's name";
    if ((entry->nodes.at != NULL && !is_list(entry->nodes)) ||
        (entry->switches.at != NULL && !is_list(entry->switches)))
        return "expected names apart by commas, like n[1-18,20],m7, with at most three pairs of brackets in each";
    return NULL;
}

/* Takes one line apart; NULL, or what is wrong with it. */
static const char *read_line(const char **text, struct entry *entry)
{
    const char *wrong = NULL;
    int words = 0;
    *entry = (struct entry){.name = {NULL, 0}};
    for (struct piece word = next_word(text); word.length > 0; word = next_word(text), words++) {
        const char *equals = memchr(word.at, '=', word.length);
        if (equals == NULL) {
            if (words == 1 && entry->taper.at != NULL && entry->taper.length == 0)
                entry->taper = word;
            else if (words == 0 && is_word(word, "taper"))
                entry->taper = (struct piece){word.at, 0};
            else
                wrong = "expected words like SwitchName=s1 Nodes=n[1-18], or `taper` and a number";
            continue;
        }
        struct piece key = {word.at, (size_t)(equals - word.at)},
                     value = {equals + 1, (size_t)(end_of(word) - equals - 1)};
        if (is_word(key, "SwitchName") || is_word(key, "BlockName"))
            entry->name = value;
        else if (is_word(key, "Nodes"))
            entry->nodes = value;
        else if (is_word(key, "Switches"))
            entry->switches = value;
    }
    *text += strcspn(*text, "\n");
    *text += **text == '\n';
    return wrong != NULL ? wrong : check(entry, words);
}

static bool read_taper(struct piece word, double *taper)
{
    char number[NUMBER_BYTES], *end;
    if (word.length == 0 || word.length >= sizeof number || !isdigit((unsigned char)word.at[0]))
        return false;
    memcpy(number, word.at, word.length);
    number[word.length] = '\0';
    long whole = strtol(number, &end, 10);
    double value = (double)whole, unit = 0.1;
    if (*end == '.') /* not strtod(), which asks the program's locale what a decimal point is */
        for (end++; isdigit((unsigned char)*end); end++, unit /= 10)
            value += unit * (*end - '0');
    if (*end != '\0' || value < 1 || value > most_taper)
        return false;
    *taper = value;
    return true;
}

static const uint64_t basis = UINT64_C(14695981039346656037);

/* Fowler, Noll and Vo: FNV-1a, 64 bits; with what was there before. */
static uint64_t hash(uint64_t before, struct piece name)
{
    for (size_t i = 0; i < name.length; i++)
        before = (before ^ (unsigned char)name.at[i]) * UINT64_C(1099511628211);
    return (before ^ '/') * UINT64_C(1099511628211);
}

/* From the outermost one on. */
static struct address make(const struct piece *names, int count)
{
    struct address address = {.known = count > 0};
    uint64_t so_far = basis;
    for (int i = 0; i < SWITCH_LEVELS; i++)
        address.level[i] = so_far = i < count ? hash(so_far, names[i]) : so_far;
    return address;
}

static struct piece whole(const char *text)
{
    return (struct piece){text, strlen(text)};
}

/* The switch in whose list a name is: of a node, or of another switch. */
static struct piece find_above(const char *text, bool of_node, struct piece name, struct piece number)
{
    struct entry entry;
    while (*text != '\0') {
        read_line(&text, &entry);
        if (entry.name.at == NULL || of_node != (entry.switches.at == NULL))
            continue;
        struct piece list = of_node ? entry.nodes : entry.switches;
        if (is_in(list, name) || (of_node && is_in(list, number)))
            return entry.name;
    }
    return (struct piece){NULL, 0};
}

bool switches_are_in(const char *text)
{
    struct piece first = {NULL, 0};
    while (*text != '\0' && first.length == 0) {
        first = next_word(&text);
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return is_word(first, "taper") || (first.length > 0 && memchr(first.at, '=', first.length) != NULL);
}

bool switches_read(const char *text, const char *host, int number, struct address *address, double *taper, char *reason,
                   size_t room)
{
    const char *at = text;
    bool any = false;
    *address = (struct address){.known = false};
    for (int line = 1; *at != '\0';) {
        struct entry entry;
        const char *begin = at, *wrong = read_line(&at, &entry);
        if (wrong == NULL && entry.taper.at != NULL && !read_taper(entry.taper, taper))
            wrong = "expected a taper from 1 to 1000";
        if (wrong != NULL) {
            snprintf(reason, room, "line %d: %s", line, wrong);
            return false;
        }
        any = any || entry.name.at != NULL;
        for (; begin < at; begin++)
            line += *begin == '\n';
    }
    if (!any) {
        snprintf(reason, room, "it names no switches");
        return false;
    }
    char by_number[NUMBER_BYTES];
    struct piece names[MOST_DEPTH], name = whole(host);
    int count = 0;
    snprintf(by_number, sizeof by_number, "%%%d", number);
    while (count < MOST_DEPTH && (name = find_above(text, count == 0, name, whole(by_number))).at != NULL)
        names[count++] = name;
    for (int i = 0; i < count / 2; i++) {
        struct piece other = names[i];
        names[i] = names[count - 1 - i];
        names[count - 1 - i] = other;
    }
    *address = make(names, count);
    return true;
}

struct address switches_of_job(const char *address, const char *pattern, const char *host)
{
    struct piece names[MOST_DEPTH];
    int count = 0;
    while (*address != '\0' && *pattern != '\0' && count < MOST_DEPTH) {
        bool is_switch = strncmp(pattern, "switch", 6) == 0 && (pattern[6] == '.' || pattern[6] == '\0');
        pattern += strcspn(pattern, ".");
        /* The node is the last, and its name may have dots of its own. */
        struct piece name = {address, is_switch ? strcspn(address, ".") : strlen(address)};
        if (!is_switch)
            return *pattern == '\0' && matches(name.at, end_of(name), whole(host), false) &&
                           memchr(name.at, '[', name.length) == NULL
                       ? make(names, count)
                       : (struct address){.known = false};
        names[count++] = name;
        address = end_of(name) + (*end_of(name) == '.');
        pattern += *pattern == '.';
    }
    return (struct address){.known = false};
}
