/* Windows onto the memory of other processes, with stand-ins for what XPMEM's library does: what is attached is this process's own
 * memory, which two processes are said to have. That XPMEM itself works is found by each program that asks for it (attach.h). */
#include "../collectives/node/attach.c"

#include "check.h"

enum { FIRST = 100, SECOND = 200, BYTES = 3 * WINDOW, REFUSED = 7 };
static int attached, detached, refused_access, asked;

bool failure_tolerated(void)
{
    return false;
}

static int64_t get(int64_t segment, int flags, int kind, void *permission)
{
    CHECK(flags == READ_AND_WRITE && kind == BY_MODE && permission == NULL);
    asked++;
    return segment == REFUSED ? -1 : segment;
}

static int release(int64_t access)
{
    refused_access += access <= 0;
    return 0;
}

static void *attach(struct place place, size_t bytes, void *wish)
{
    CHECK(bytes == WINDOW && wish == NULL && place.offset % WINDOW == 0);
    if (place.access == 3)
        return (void *)-1;
    attached++;
    return (void *)(uintptr_t)place.offset;
}

static int undo(void *address)
{
    CHECK(address != NULL);
    detached++;
    return 0;
}

static int forget(int64_t segment)
{
    (void)segment;
    return 0;
}

static void begin(int64_t first, int64_t second)
{
    attach_end();
    peers = calloc(2, sizeof *peers);
    peers[0] = (struct peer){FIRST, first, 0}, peers[1] = (struct peer){SECOND, second, 0};
    peer_count = 2;
    attached = detached = asked = 0;
}

/* Across windows, at any place, both ways; a window is attached once. */
static void test_move(char *memory, char *copy)
{
    begin(1, 2);
    srandom(1);
    for (int i = 0; i < BYTES; i++)
        memory[i] = (char)random();
    const uint64_t base = (uint64_t)(uintptr_t)memory;
    CHECK(attach_read(FIRST, base, copy, BYTES) == BYTES && memcmp(memory, copy, BYTES) == 0);
    const int windows_of = attached;
    CHECK(windows_of >= 3 && windows_of <= 4 && asked == 1);
    for (int turn = 0; turn < 200; turn++) {
        const int64_t at = random() % BYTES, bytes = random() % (BYTES - at) / (1 + turn % 50);
        CHECK(attach_read(SECOND, base + (uint64_t)at, copy, bytes) == bytes);
        CHECK(memcmp(memory + at, copy, (size_t)bytes) == 0);
        copy[0] = (char)turn;
        CHECK(attach_write(FIRST, base + (uint64_t)at, copy, bytes) == bytes);
        CHECK(memcmp(memory + at, copy, (size_t)bytes) == 0);
    }
    CHECK(asked == 2 && attached > windows_of && attached <= 2 * windows_of && detached == 0);
    attach_end();
    CHECK(detached == attached && !attach_works());
    CHECK(attach_read(FIRST, base, copy, 8) == 0);
}

static long set_of(const struct window *window)
{
    return (window - windows[0]) / WAYS;
}

/* What is not attached is left to who asked: a process that is none of them, one that refuses, windows that do not go, a
   window's place that somebody is using for another. */
static void test_left(char *memory, char *copy)
{
    const uint64_t base = (uint64_t)(uintptr_t)memory;
    begin(REFUSED, 3);
    CHECK(attach_read(FIRST, base, copy, 8) == 0 && attach_read(FIRST, base, copy, 8) == 0 && asked == 1);
    CHECK(attach_write(SECOND, base, copy, 8) == 0 && attached == 0);
    CHECK(attach_read(300, base, copy, 8) == 0);
    attach_end();
    CHECK(refused_access == 0);

    begin(1, 2);
    struct window *held = take(FIRST, base / WINDOW);
    uint64_t other = base / WINDOW + 1;
    int taken = 1;
    for (; taken < WAYS; other++)
        if (set_of(find_place(FIRST, other)) == set_of(held))
            taken += take(FIRST, other) != NULL;
    while (find_place(FIRST, other) != NULL)
        other++;
    CHECK(held != NULL && attached == WAYS && detached == 0 && take(FIRST, other) == NULL);
    CHECK(attach_read(FIRST, base, copy, 8) == 8);
    give_back(held);
    CHECK(take(FIRST, other) == held && detached == 1); /* the only one that nobody uses */
    for (int i = 0; i < SETS * WAYS; i++)
        windows[i / WAYS][i % WAYS].users = 0;
    attach_end();
    CHECK(detached == attached);
}

static void *move_often(void *argument)
{
    char *memory = argument, copy[4096];
    for (int turn = 0; turn < 20000; turn++) {
        const uint64_t at = (uint64_t)(turn % 3) * WINDOW + (uint64_t)(turn % 1000);
        CHECK(attach_read(turn % 2 ? FIRST : SECOND, (uint64_t)(uintptr_t)memory + at, copy, sizeof copy) ==
              (int64_t)sizeof copy);
        CHECK(memcmp(copy, memory + at, sizeof copy) == 0);
    }
    return NULL;
}

static void test_threads(char *memory)
{
    pthread_t threads[4];
    begin(1, 2);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, move_often, memory);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    attach_end();
    CHECK(detached == attached);
}

int main(void)
{
    char *memory = malloc(BYTES), *copy = malloc(BYTES);
    CHECK(memory != NULL && copy != NULL);
    xpmem.get = get, xpmem.release = release, xpmem.attach = attach, xpmem.detach = undo, xpmem.remove = forget;
    test_move(memory, copy);
    test_left(memory, copy);
    test_threads(memory);
    free(memory);
    free(copy);
    return verdict();
}
