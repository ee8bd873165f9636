/* Lines from standard input, with an end to waiting: the launcher of Open MPI 5 never passes on that the input has
   ended, so a driver that is gone is only noticed by its silence. */
#ifndef UNISONO_INPUT_H
#define UNISONO_INPUT_H

#include <stddef.h>
#include <stdint.h>

enum { INPUT_BLOCK = 4096, INPUT_LINE_MOST = 1 << 20, INPUT_SILENCE_MOST_S = 600 };

struct input {
    int file;
    int silence_ms;
    char block[INPUT_BLOCK];
    size_t used, filled;
};

void input_begin(struct input *input, int file, int silence_ms);

/* The next line without its end, in *line (malloc'ed, grown as needed). Returns its length with the closing zero; 0 at
   the end of input, after too long a silence, or for a line too long to be a command, the last two with a message on
   standard error. */
int64_t input_line(struct input *input, char **line, size_t *room);

#endif
