#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void make_room(struct text *text, size_t more)
{
    if (text->length + more < text->capacity)
        return;
    size_t capacity = 2 * (text->length + more) + 256;
    char *bytes = realloc(text->bytes, capacity);
    if (bytes == NULL) {
        fputs("unisono-bench: out of memory while writing an answer\n", stderr);
        exit(EXIT_FAILURE);
    }
    text->bytes = bytes;
    text->capacity = capacity;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_list again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int needed = vsnprintf(NULL, 0, format, again);
    va_end(again);
    make_room(text, (size_t)needed + 1);
    vsnprintf(text->bytes + text->length, (size_t)needed + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)needed;
}

void text_quote(struct text *text, const char *string)
{
    text_add(text, "\"");
    for (const unsigned char *c = (const unsigned char *)string; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            text_add(text, "\\%c", *c);
        else if (*c < 0x20 || *c > 0x7e)
            text_add(text, "\\u%04x", *c);
        else
            text_add(text, "%c", *c);
    }
    text_add(text, "\"");
}

void text_integers(struct text *text, const int64_t *values, size_t count)
{
    text_add(text, "[");
    for (size_t i = 0; i < count; i++)
        text_add(text, "%s%" PRId64, i ? "," : "", values[i]);
    text_add(text, "]");
}

void text_send(struct text *text)
{
    printf("@U %s\n", text->length ? text->bytes : "{}");
    fflush(stdout);
    text->length = 0;
}

void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}
