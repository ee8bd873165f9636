#include "input.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void input_begin(struct input *input, int file, int silence_ms)
{
    *input = (struct input){.file = file, .silence_ms = silence_ms};
}

/* Waits for more; false when there is none. */
static bool refill(struct input *input)
{
    struct pollfd wanted = {.fd = input->file, .events = POLLIN};
    int ready;
    while ((ready = poll(&wanted, 1, input->silence_ms)) < 0 && errno == EINTR)
        continue;
    if (ready == 0)
        fprintf(stderr, "unisono-bench: no command for %d s, the driver must be gone\n", input->silence_ms / 1000);
    if (ready <= 0)
        return false;
    ssize_t got;
    while ((got = read(input->file, input->block, sizeof input->block)) < 0 && errno == EINTR)
        continue;
    input->used = 0;
    input->filled = got > 0 ? (size_t)got : 0;
    return got > 0;
}

static bool put(char **line, size_t *room, size_t at, char byte)
{
    if (at >= *room) {
        size_t larger = 2 * at + 256;
        char *moved = realloc(*line, larger);
        if (moved == NULL)
            return false;
        *line = moved;
        *room = larger;
    }
    (*line)[at] = byte;
    return true;
}

int64_t input_line(struct input *input, char **line, size_t *room)
{
    for (size_t length = 0;; length++) {
        bool more = input->used < input->filled || refill(input);
        if (!more && length == 0)
            return 0;
        char byte = more ? input->block[input->used++] : '\n';
        bool ends = byte == '\n' || byte == '\0';
        if (length > INPUT_LINE_MOST || !put(line, room, length, ends ? '\0' : byte)) {
            fputs("unisono-bench: a command longer than 1 MiB\n", stderr);
            return 0;
        }
        if (ends)
            return (int64_t)length + 1;
    }
}
