/* Whether an MPI library attaches memory, with stand-ins: a file for the device, another one for the mappings before and after its long
 * message, and functions of MPI for two ranks whose memory is the same. */
#include "../collectives/node/attached.c"

#include <fcntl.h>

#include "check.h"
#include "two_ranks.h"

static bool others = true; /* what the other rank says when they agree */
static int long_messages;
static const char *leaves, *connected; /* what is mapped after it, and after short ones, if anything */

int PMPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)count, (void)type, (void)op, (void)comm;
    *(int *)receive = others && *(const int *)send;
    return MPI_SUCCESS;
}

/* What the kernel says of usual mappings, one of them of a file whose name is long, and these besides. */
static void map(const char *lines)
{
    FILE *file = fopen(mappings, "w");
    fprintf(file, "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0                          [heap]\n"
                  "7f0000000000-7f0000400000 rw-s 00000000 00:01 1029                       /dev/zero (deleted)\n"
                  "7f0000400000-7f0000800000 rw-p 00000000 00:00 0 \n");
    fprintf(file, "7f0000800000-7f0000c00000 r-xs 00000000 08:01 77                         /%*d\n%s", PATH_MAX - 2, 1,
            lines);
    fprintf(file, "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n");
    fclose(file);
}

int PMPI_Sendrecv(const void *send, int count, MPI_Datatype type, int to, int tag, void *receive, int room,
                  MPI_Datatype received, int from, int other_tag, MPI_Comm comm, MPI_Status *status)
{
    (void)tag, (void)other_tag, (void)comm, (void)status;
    CHECK(to == 1 && from == 1 && count == room && type == MPI_BYTE && received == MPI_BYTE);
    CHECK(((uintptr_t)send % STEP == 0 && (char *)receive - (const char *)send == LONG) || count < LONG);
    static uintptr_t step_of_short;
    if (count < LONG)
        step_of_short = (uintptr_t)send / STEP;
    else
        CHECK((uintptr_t)send / STEP != step_of_short && (uintptr_t)receive / STEP != step_of_short);
    memcpy(receive, send, (size_t)count);
    long_messages += count == LONG;
    if (count == LONG || connected != NULL)
        map(count == LONG ? leaves : connected);
    return MPI_SUCCESS;
}

static bool found(const char *before, const char *after)
{
    map(before);
    leaves = after;
    long_messages = 0;
    return attached_by_mpi(MPI_COMM_WORLD, true);
}

#define ATTACHED "7f1000000000-7f1000101000 rw-s 00000000 00:00 0 \n"
#define LATER "7f2000000000-7f2000101000 rw-s 00000000 00:00 0 \n"

static void test_mappings(void)
{
    char by_name[PATH_MAX + 128], *many = malloc((size_t)(MAPPINGS + 2) * 64), *end = many;
    CHECK(found("", ATTACHED) && long_messages == 1);
    CHECK(found(ATTACHED, ATTACHED LATER) &&
          found(ATTACHED LATER, LATER "7f1000000000-7f1000801000 rw-s 0 00:00 0 \n"));
    CHECK(!found("", "") && long_messages == 1 && !found(ATTACHED, ATTACHED) && !found(ATTACHED, ""));
    connected = ATTACHED;
    CHECK(!found("", ATTACHED) && found("", ATTACHED LATER));
    connected = NULL;
    CHECK(!found("", "7f1000000000-7f1000101000 rw-p 00000000 00:00 0 \n"));  /* private */
    CHECK(!found("", "7f1000000000-7f1000004000 rw-s 00000000 00:00 0 \n"));  /* no place for the message */
    CHECK(!found("", "7f1000000000-7f1000101000 rw-s 0 08:01 99  /dev/x\n")); /* another file */
    CHECK(!found("", "7f1000000000-7f1000101000 rw-s 0 00:00 0  [vvar]\n"));
    snprintf(by_name, sizeof by_name, "7f1000000000-7f1000101000 rw-s 7f00 00:05 123                 %s\n", device);
    CHECK(found("", by_name));
    by_name[strlen(by_name) - 1] = 'y';
    CHECK(!found("", strcat(by_name, "\n")));
    for (int i = 0; i <= MAPPINGS; i++)
        end += sprintf(end, "7f30%08x-7f30%08x rw-s 0 00:00 0 \n", i << 12, (i + 1) << 12);
    CHECK(!found("", many) && !found(many, many));
    others = false;
    CHECK(!found("", ATTACHED) && long_messages == 0);
    others = true;
    CHECK(!attached_by_mpi(MPI_COMM_WORLD, false) && long_messages == 0);
    free(many);
}

/* Nobody sends anything where it is not open, behind however many other descriptors it would be, and by whatever name. */
static void test_open(const char *folder)
{
    enum { MANY = 500 };
    char link[PATH_MAX], *real = strdup(device);
    int others_open[MANY];
    CHECK(!is_open() && !found("", ATTACHED) && long_messages == 0);
    for (int i = 0; i < MANY; i++)
        others_open[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int opened = open(device, O_RDWR | O_CLOEXEC);
    for (int i = 0; i < MANY; i++)
        close(others_open[i]);
    CHECK(opened > MANY && is_open());
    snprintf(link, sizeof link, "%s/link", folder);
    CHECK(symlink(real, link) == 0);
    device = link;
    CHECK(is_open());
    unlink(link);
    CHECK(!is_open());
    device = real;
    test_mappings();
    close(opened);
    CHECK(!is_open());
}

int main(void)
{
    char folder[] = "/tmp/unisono-attached-XXXXXX", stand_in[PATH_MAX], maps[PATH_MAX];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(stand_in, sizeof stand_in, "%s/xpmem", folder);
    snprintf(maps, sizeof maps, "%s/maps", folder);
    device = stand_in, mappings = maps;
    CHECK(!is_open()); /* there is none */
    const int file = open(device, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    CHECK(file >= 0 && is_open());
    close(file);
    test_open(folder);
    unlink(maps);
    struct mapping none[MAPPINGS];
    CHECK(find_attached(none) == -1);
    unlink(stand_in);
    rmdir(folder);
    return verdict();
}
