#include "part.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "message.h"
#include "modules.h"
#include "pending.h"
#include "record.h"

static struct {
    char host[256];
    char exe[PATH_MAX];
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *thread_level;
    int64_t started;
    uint64_t init_ns;
} known;

void part_start(uint64_t init_ns, int thread_level)
{
    int length;
    gethostname(known.host, sizeof known.host - 1);
    ssize_t end = readlink("/proc/self/exe", known.exe, sizeof known.exe - 1);
    known.exe[end > 0 ? end : 0] = '\0';
    PMPI_Get_library_version(known.mpi, &length);
    known.mpi[strcspn(known.mpi, "\n")] = '\0';
    known.thread_level = thread_level == MPI_THREAD_MULTIPLE     ? "multiple"
                         : thread_level == MPI_THREAD_SERIALIZED ? "serialized"
                         : thread_level == MPI_THREAD_FUNNELED   ? "funneled"
                                                                 : "single";
    known.started = (int64_t)time(NULL);
    known.init_ns = init_ns;
}

static int64_t memory_bytes(void)
{
    size_t bytes = (size_t)comms.ranks * sizeof *record.pairs;
    for (int i = 0; i < record.slabs; i++)
        bytes += record.slab[i].table.bytes;
    return (int64_t)bytes;
}

static void number(struct bytes *bytes, const char *name, int64_t value)
{
    bytes_name(bytes, name);
    bytes_number(bytes, value);
}

static void text(struct bytes *bytes, const char *name, const char *value)
{
    bytes_name(bytes, name);
    bytes_quoted(bytes, value);
}

static void write_rank(struct bytes *bytes, const char *ended, uint64_t wall_ns, double ns_per_tick)
{
    uint64_t calls = 0, dropped = 0, time_in_mpi = 0;
    for (int i = 0; i < record.slabs; i++) {
        calls += record.slab[i].table.calls;
        dropped += record.slab[i].table.dropped;
        time_in_mpi += record.slab[i].table.time;
    }
    size_t section = bytes_section(bytes, "RANK");
    bytes_text(bytes, "{");
    number(bytes, "rank", comms.rank);
    number(bytes, "ranks", comms.ranks);
    text(bytes, "host", known.host);
    number(bytes, "pid", (int64_t)getpid());
    number(bytes, "node", comms.node);
    text(bytes, "exe", known.exe);
    number(bytes, "started", known.started);
    number(bytes, "init_ns", (int64_t)known.init_ns);
    number(bytes, "wall_ns", (int64_t)wall_ns);
    number(bytes, "mpi_ns", (int64_t)((double)time_in_mpi * ns_per_tick));
    text(bytes, "ended", ended);
    text(bytes, "mpi", known.mpi);
    number(bytes, "threads", record.threads);
    text(bytes, "thread_level", known.thread_level);
    number(bytes, "calls", (int64_t)calls);
    number(bytes, "dropped", (int64_t)dropped);
    number(bytes, "paths_lost", (int64_t)record.paths_lost);
    number(bytes, "phases_lost", (int64_t)record.phases_lost);
    number(bytes, "pending_lost", (int64_t)pending_lost);
    number(bytes, "elsewhere_calls", (int64_t)record.elsewhere.calls);
    number(bytes, "elsewhere_bytes", (int64_t)record.elsewhere.bytes);
    number(bytes, "overhead_ns", (int64_t)record.overhead_ns);
    number(bytes, "depth", record.settings.depth);
    bytes_name(bytes, "split_waiting");
    bytes_text(bytes, record.settings.split_waiting ? "true" : "false");
    number(bytes, "memory", memory_bytes());
    text(bytes, "clock", ticks_even ? "tsc" : "monotonic");
    bytes_text(bytes, "}");
    bytes_section_end(bytes, section);
}

static void write_list(struct bytes *bytes, const char *tag, int count, const char *(*name)(int))
{
    size_t section = bytes_section(bytes, tag);
    for (int i = 0; i < count; i++) {
        bytes_text(bytes, i == 0 ? "[" : ",");
        bytes_quoted(bytes, name(i));
    }
    bytes_text(bytes, "]");
    bytes_section_end(bytes, section);
}

static const char *function_name(int i)
{
    return function_names[i];
}

static const char *phase_name(int i)
{
    return record.phases[i];
}

static void write_comms(struct bytes *bytes)
{
    size_t section = bytes_section(bytes, "COMM");
    bytes_text(bytes, "[");
    for (int i = 0; i < comms.shape_count; i++) {
        bytes_text(bytes, i == 0 ? "{" : ",{");
        number(bytes, "size", comms.shapes[i].size);
        number(bytes, "nodes", comms.shapes[i].nodes);
        number(bytes, "created", (int64_t)comms.shapes[i].created);
        bytes_text(bytes, "}");
    }
    bytes_text(bytes, "]");
    bytes_section_end(bytes, section);
}

/* Every table has the empty path first; in the file there is one. */
static void write_paths(struct bytes *bytes)
{
    size_t section = bytes_section(bytes, "PATH");
    bytes_put(bytes, (uint32_t[]){0, 0}, 8);
    for (int i = 0; i < record.slabs; i++) {
        const struct table *table = &record.slab[i].table;
        for (uint32_t p = 1; p < table->path_count; p++) {
            bytes_put(bytes, (uint32_t[]){table->paths[p].count, 0}, 8);
            bytes_put(bytes, table->frames + table->paths[p].first, table->paths[p].count * sizeof *table->frames);
        }
    }
    bytes_section_end(bytes, section);
}

/* Of the longest call: so many calls of it are not shorter than all of them together. */
static uint64_t rounded_up(double ns)
{
    uint64_t whole = (uint64_t)ns;
    return whole + ((double)whole < ns);
}

static void write_cells(struct bytes *bytes, double ns_per_tick)
{
    uint32_t paths_before = 0;
    size_t section = bytes_section(bytes, "CELL");
    for (int i = 0; i < record.slabs; i++) {
        const struct table *table = &record.slab[i].table;
        for (uint32_t c = 0; c < table->cell_count; c++) {
            struct cell *cell = bytes_room(bytes, sizeof *cell);
            if (cell == NULL)
                return;
            *cell = table->cells[c];
            cell->path += cell->path > 0 ? paths_before : 0;
            cell->bin = 0;
            cell->time = (uint64_t)((double)cell->time * ns_per_tick);
            cell->time_min = (uint64_t)((double)cell->time_min * ns_per_tick);
            cell->time_max = rounded_up((double)cell->time_max * ns_per_tick);
            if (cell->waiting > 0)
                cell->waiting = (int64_t)((double)cell->waiting * ns_per_tick);
        }
        paths_before += table->path_count - 1;
    }
    bytes_section_end(bytes, section);
}

/* Of cells that have to do with nonblocking collectives. */
static void write_completions(struct bytes *bytes, double ns_per_tick)
{
    uint32_t before = 0;
    size_t section = bytes_section(bytes, "DONE");
    for (int i = 0; i < record.slabs; i++) {
        const struct table *table = &record.slab[i].table;
        for (uint32_t c = 0; c < table->cell_count; c++) {
            const struct completion *done = &table->completions[c];
            if (done->calls == 0 && done->time == 0)
                continue;
            bytes_put(bytes, (uint32_t[]){before + c, 0}, 8);
            bytes_put(bytes, (uint64_t[]){done->calls, (uint64_t)((double)done->time * ns_per_tick)}, 16);
        }
        before += table->cell_count;
    }
    bytes_section_end(bytes, section);
}

static void write_pairs(struct bytes *bytes)
{
    size_t section = bytes_section(bytes, "PAIR");
    for (int rank = 0; rank < comms.ranks; rank++) {
        const struct pair *pair = &record.pairs[rank];
        if (pair->calls > 0) {
            bytes_put(bytes, (int32_t[]){rank, 0}, 8);
            bytes_put(bytes, (uint64_t[]){pair->calls, pair->bytes}, 16);
        }
    }
    bytes_section_end(bytes, section);
}

static void write_messages(struct bytes *bytes, double ns_per_tick)
{
    size_t section = bytes_section(bytes, "MSGS");
    for (uint32_t i = 0; i < messages.count; i++) {
        struct message message = messages.log[i];
        message.posted = ticks_to_ns(message.posted, ns_per_tick);
        message.begin = ticks_to_ns(message.begin, ns_per_tick);
        message.end = message.end > 0 ? ticks_to_ns(message.end, ns_per_tick) : 0;
        bytes_put(bytes, &message, sizeof message);
    }
    bytes_section_end(bytes, section);
}

static size_t enough(void)
{
    size_t bytes = ((size_t)8 << 20) + (size_t)comms.ranks * 24 + messages.count * sizeof(struct message);
    for (int i = 0; i < record.slabs; i++) {
        const struct table *table = &record.slab[i].table;
        bytes += table->cell_count * (sizeof(struct cell) + 24) + table->path_count * (size_t)8 +
                 table->frame_count * sizeof *table->frames;
    }
    return bytes;
}

struct bytes part_write(const char *ended)
{
    double ns_per_tick;
    uint64_t wall_ns = ticks_elapsed_ns(&ns_per_tick);
    struct bytes bytes = bytes_create(enough());
    if (bytes.at == NULL)
        return bytes;
    write_rank(&bytes, ended, wall_ns, ns_per_tick);
    size_t section = bytes_section(&bytes, "MODS");
    modules_write(&bytes);
    bytes_section_end(&bytes, section);
    write_list(&bytes, "FUNC", FUNCTIONS, function_name);
    write_paths(&bytes);
    write_comms(&bytes);
    write_list(&bytes, "PHAS", (int)record.phase_count, phase_name);
    write_cells(&bytes, ns_per_tick);
    write_completions(&bytes, ns_per_tick);
    write_pairs(&bytes);
    if (messages.log != NULL)
        write_messages(&bytes, ns_per_tick);
    bytes_section_end(&bytes, bytes_section(&bytes, "END "));
    return bytes;
}
