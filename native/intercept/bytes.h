/* A buffer that is written front to back, with nothing that a signal handler may not do. */
#ifndef UNISONO_BYTES_H
#define UNISONO_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    char *at;
    size_t used;
    size_t limit;
    bool full; /* something did not fit */
};

/* Fresh memory; `at` is NULL if there is none. */
struct bytes bytes_create(size_t limit);
void bytes_free(struct bytes *bytes);

/* Room for `length` more, 8-aligned if all before was; NULL when there is none. */
void *bytes_room(struct bytes *bytes, size_t length);
void bytes_put(struct bytes *bytes, const void *data, size_t length);
void bytes_text(struct bytes *bytes, const char *text);
void bytes_number(struct bytes *bytes, int64_t value);

/* As a JSON string; bytes that are no ASCII stay as they are if `text` is UTF-8, and become "?" if not. */
void bytes_quoted(struct bytes *bytes, const char *text);

/* `,"name":` (without the comma at the start of an object). */
void bytes_name(struct bytes *bytes, const char *name);

/* A section of the file: 4 letters, 4 zero bytes, 8 of length, then what is written until bytes_section_end, which also
 * pads to 8. */
size_t bytes_section(struct bytes *bytes, const char *tag);
void bytes_section_end(struct bytes *bytes, size_t section);

#endif
