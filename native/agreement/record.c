/* Records as text: a version, numbers in hexadecimal, hosts; each followed by a slash. */
#include "agreement.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1 };

void agreement_plain(char *text)
{
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && *text != '-' && *text != '.')
            *text = '_';
}

void record_write(const struct record *record, char text[KEYSPACE_VALUE])
{
    const struct complaint *complaint = &record->complaint;
    struct complaint hosts = *complaint;
    agreement_plain(hosts.host), agreement_plain(hosts.other_host);
    size_t used = (size_t)snprintf(text, KEYSPACE_VALUE, "%x/%x/", FORMAT, (unsigned)record->items);
    for (int i = 0; i < record->items; i++)
        used += (size_t)snprintf(text + used, KEYSPACE_VALUE - used, "%" PRIx32 "/", record->item[i]);
    for (int i = 0; i < AGREEMENT_NUMBERS; i++)
        used += (size_t)snprintf(text + used, KEYSPACE_VALUE - used, "%" PRIx64 "/", (uint64_t)record->least[i]);
    snprintf(text + used, KEYSPACE_VALUE - used, "%x/%x/%x/%x/%s/%s/", (unsigned)complaint->trouble,
             (unsigned)complaint->item, (unsigned)complaint->rank, (unsigned)complaint->other, hosts.host,
             hosts.other_host);
}

static bool number(const char **text, uint64_t *value)
{
    char *end;
    if (!isxdigit((unsigned char)**text))
        return false;
    *value = strtoull(*text, &end, 16);
    *text = end + 1;
    return *end == '/';
}

static bool word(const char **text, char host[AGREEMENT_HOST])
{
    size_t length = strcspn(*text, "/");
    if (length >= AGREEMENT_HOST || (*text)[length] != '/')
        return false;
    memcpy(host, *text, length);
    host[length] = '\0';
    *text += length + 1;
    return true;
}

bool record_read(struct record *record, const char *text)
{
    uint64_t format, value, fields[4];
    *record = (struct record){.items = 0};
    if (!number(&text, &format) || format != FORMAT || !number(&text, &value) || value > AGREEMENT_ITEMS)
        return false;
    record->items = (int)value;
    for (int i = 0; i < record->items; i++) {
        if (!number(&text, &value))
            return false;
        record->item[i] = (uint32_t)value;
    }
    for (int i = 0; i < AGREEMENT_NUMBERS; i++) {
        if (!number(&text, &value))
            return false;
        record->least[i] = (int64_t)value;
    }
    for (int i = 0; i < 4; i++)
        if (!number(&text, &fields[i]))
            return false;
    record->complaint.trouble = (enum trouble)(fields[0] <= TROUBLE_NO_SPACE ? fields[0] : TROUBLE_SILENT);
    record->complaint.item = (int)fields[1];
    record->complaint.rank = (int)(uint32_t)fields[2];
    record->complaint.other = (int)(uint32_t)fields[3];
    return word(&text, record->complaint.host) && word(&text, record->complaint.other_host) && *text == '\0';
}
