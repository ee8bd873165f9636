/* Variables of the environment: a line each, those of the recorder, then a text that pretends nodes and names that are
 * written into profiles. */
#include "fuzz.h"
#include "bound.h"
#include "bytes.h"
#include "settings.h"

enum { LINES = 8, RANKS = 40 };
static const char *const names[LINES - 1] = {
    "UNISONO_PROFILE",       "UNISONO_PROFILE_FILTER",        "UNISONO_PROFILE_START",
    "UNISONO_PROFILE_DEPTH", "UNISONO_PROFILE_SPLIT_WAITING", "UNISONO_PROFILE_MEMORY",
    "UNISONO_PROFILE_OTHER"};
static int complaints;

static void complain(const char *variable, const char *value)
{
    FUZZ_CHECK(getenv(variable) == value);
    complaints++;
}

static void read_settings(void)
{
    struct settings got;
    complaints = 0;
    settings_read(&got, complain);
    FUZZ_CHECK(complaints <= 3);
    FUZZ_CHECK(got.prefix[0] == '\0' || got.prefix[0] == '/' || strlen(got.prefix) + 1 == sizeof got.prefix ||
               strlen(getenv("UNISONO_PROFILE")) + 64 > sizeof got.prefix);
    FUZZ_CHECK(got.depth >= 0 && got.depth <= 16);
    FUZZ_CHECK(got.prefix[0] == '\0' || got.memory >= (size_t)64 << 10);
}

/* The lowest of a group is in that group, and no higher than those it stands for. */
static void pretend(const char *text)
{
    for (int number = 0; number < RANKS; number++) {
        int first = fake_first(text, number);
        FUZZ_CHECK(first >= 0 && first <= number && fake_first(text, first) == first);
    }
}

/* A JSON string of the least that every reader takes: quotes around, none within but escaped, no control characters. */
static void quote(const char *text)
{
    char *room = malloc(8 * strlen(text) + 16);
    FUZZ_CHECK(room != NULL);
    struct bytes bytes = {.at = room, .limit = 8 * strlen(text) + 16};
    bytes_quoted(&bytes, text);
    FUZZ_CHECK(!bytes.full && bytes.used >= 2 && room[0] == '"' && room[bytes.used - 1] == '"');
    for (size_t i = 1; i + 1 < bytes.used; i++) {
        FUZZ_CHECK((unsigned char)room[i] >= 0x20 && room[i] != '"');
        if (room[i] == '\\')
            i++;
    }
    bytes = (struct bytes){.at = room, .limit = strlen(text) / 2};
    bytes_quoted(&bytes, text);
    FUZZ_CHECK(bytes.used <= bytes.limit);
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *at = text;
    for (int i = 0; i < LINES - 1; i++) {
        size_t length = strcspn(at, "\n");
        bool more = at[length] == '\n';
        at[length] = '\0';
        if (length > 0)
            setenv(names[i], at, 1);
        else
            unsetenv(names[i]);
        pretend(at);
        quote(at);
        at += length + more;
    }
    read_settings();
    quote(at);
    free(text);
    return 0;
}
