/* Text that grows while it is written: one answer of the protocol, a JSON object on one line. */
#ifndef UNISONO_TEXT_H
#define UNISONO_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
    char *bytes;
    size_t length;
    size_t capacity;
};

/* Appends as printf does. Ends the process when memory runs out: an answer cannot be half. */
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a JSON string with its quotes. Only ASCII leaves: other bytes are escaped as Latin-1, so the line is always
 * valid. */
void text_quote(struct text *text, const char *string);

/* Appends a JSON array. */
void text_integers(struct text *text, const int64_t *values, size_t count);

/* Writes "@U ", the text and a line end on standard output, at once, and empties the text. */
void text_send(struct text *text);

void text_free(struct text *text);

#endif
