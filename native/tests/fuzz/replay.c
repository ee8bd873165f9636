/* Without libFuzzer: every file of a folder is one input. Argument: the folder. So the targets and what they have once
 * found are part of every run of the tests. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static void try_file(const char *path)
{
    struct stat file;
    FILE *input = fopen(path, "rb");
    FUZZ_CHECK(input != NULL && fstat(fileno(input), &file) == 0);
    if (S_ISREG(file.st_mode)) {
        size_t size = (size_t)file.st_size;
        uint8_t *data = malloc(size + 1);
        FUZZ_CHECK(data != NULL && fread(data, 1, size, input) == size);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    fclose(input);
}

int main(int count, char **arguments)
{
    int tried = 0;
    DIR *folder = count > 1 ? opendir(arguments[1]) : NULL;
    FUZZ_CHECK(folder != NULL);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", arguments[1], entry->d_name);
        if (entry->d_name[0] != '.') {
            try_file(path);
            tried++;
        }
    }
    closedir(folder);
    printf("%d inputs\n", tried);
    return tried > 0 ? 0 : 1;
}
