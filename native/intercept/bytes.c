#include "bytes.h"

#include <string.h>
#include <sys/mman.h>

struct bytes bytes_create(size_t limit)
{
    void *memory = mmap(NULL, limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return (struct bytes){.at = memory == MAP_FAILED ? NULL : memory, .limit = memory == MAP_FAILED ? 0 : limit};
}

void bytes_free(struct bytes *bytes)
{
    if (bytes->at != NULL)
        munmap(bytes->at, bytes->limit);
    *bytes = (struct bytes){0};
}

void *bytes_room(struct bytes *bytes, size_t length)
{
    if (length > bytes->limit - bytes->used) {
        bytes->full = true;
        return NULL;
    }
    bytes->used += length;
    return bytes->at + bytes->used - length;
}

void bytes_put(struct bytes *bytes, const void *data, size_t length)
{
    void *room = bytes_room(bytes, length);
    if (room != NULL)
        memcpy(room, data, length);
}

void bytes_text(struct bytes *bytes, const char *text)
{
    bytes_put(bytes, text, strlen(text));
}

void bytes_number(struct bytes *bytes, int64_t value)
{
    char digits[24], *end = digits + sizeof digits, *at = end;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0)
        *--at = '-';
    bytes_put(bytes, at, (size_t)(end - at));
}

/* How many bytes the UTF-8 character at `text` has; 0: it is none. */
static int character(const unsigned char *text)
{
    int length = text[0] < 0x80                       ? 1
                 : text[0] >= 0xc2 && text[0] <= 0xdf ? 2
                 : (text[0] & 0xf0) == 0xe0           ? 3
                 : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
                                                      : 0;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool outside = (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f);
    return overlong || outside ? 0 : length;
}

void bytes_quoted(struct bytes *bytes, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    bytes_text(bytes, "\"");
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
        int length = character(at);
        if (length == 0)
            bytes_text(bytes, "?");
        else if (*at == '"' || *at == '\\')
            bytes_put(bytes, (char[]){'\\', (char)*at}, 2);
        else if (*at < 0x20)
            bytes_put(bytes, (char[]){'\\', 'u', '0', '0', hex[*at >> 4], hex[*at & 15]}, 6);
        else
            bytes_put(bytes, at, (size_t)length);
        at += length > 0 ? length : 1;
    }
    bytes_text(bytes, "\"");
}

void bytes_name(struct bytes *bytes, const char *name)
{
    if (bytes->used > 0 && bytes->at[bytes->used - 1] != '{')
        bytes_text(bytes, ",");
    bytes_quoted(bytes, name);
    bytes_text(bytes, ":");
}

size_t bytes_section(struct bytes *bytes, const char *tag)
{
    size_t section = bytes->used;
    bytes_put(bytes, tag, 4);
    bytes_put(bytes, "\0\0\0\0\0\0\0\0\0\0\0", 12);
    return section;
}

void bytes_section_end(struct bytes *bytes, size_t section)
{
    if (bytes->used < section + 16)
        return;
    uint64_t length = bytes->used - section - 16;
    for (int i = 0; i < 8; i++)
        bytes->at[section + 8 + (size_t)i] = (char)(length >> 8 * i);
    bytes_put(bytes, "\0\0\0\0\0\0\0", (size_t)(-length & 7));
}
