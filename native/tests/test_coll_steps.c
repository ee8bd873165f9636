/* Every interleaving of a few ranks that speak through lines and cells (collectives/node/cells.h): nothing is read that was
 * overwritten or not yet posted, and nobody waits for ever.
 *
 * A model: each phase is written down as the actions of one rank in the order of the code, each action indivisible; the
 * states that can be reached are visited once each. Memory is taken to be sequentially consistent; that the code asks for
 * enough order is the business of test_coll_threads under ThreadSanitizer. The explorer must find fault with phases that
 * are wrong on purpose, or it would prove nothing. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "coll_steps_phases.h"

enum { MOST_STEPS = 24, TABLE = 1 << 21 };

/* One place a rank per ring: the model has no lines that are more than cells, only one ring of the size given. */
struct comm_state {
    uint8_t at[RANKS], known[RANKS], passed[RANKS];
    uint8_t posted[RANKS][MOST_STEPS]; /* by place: step + 1 */
    uint8_t value[RANKS][MOST_STEPS];  /* by place: step + 1 of what is written there */
    uint8_t traded[TRADERS * PLACES];  /* the same of the places of trade.h */
};

enum verdict { FINE, OVERWRITTEN, STUCK };

static uint8_t least_passed(const struct system *system, const struct comm_state *state, int rank)
{
    uint8_t least = UINT8_MAX;
    for (int peer = 0; peer < system->ranks; peer++)
        if (peer != rank && state->passed[peer] < least)
            least = state->passed[peer];
    return least;
}

/* Whether the rank can go on, and what becomes of the state then; *wrong: what it reads is not what was posted. */
static bool go_on(const struct system *system, struct comm_state *state, int rank, bool *wrong)
{
    const struct action *action = &system->programs[rank].actions[state->at[rank]];
    int place = action->step % system->ring;
    uint8_t now = (uint8_t)(action->step + 1);
    switch (action->kind) {
    case ROOM:
        if (state->known[rank] + system->ring < now) {
            if (least_passed(system, state, rank) + system->ring < now)
                return false;
            state->known[rank] = least_passed(system, state, rank);
        }
        break;
    case WRITE: state->value[rank][place] = now; break;
    case POST: state->posted[rank][place] = now; break;
    case AWAIT:
        if (state->posted[action->peer][place] < now)
            return false;
        break;
    case READ:
    case DONE: *wrong = state->value[action->peer][place] != now; break;
    case KNOW: state->known[rank] = action->step > state->known[rank] ? action->step : state->known[rank]; break;
    case PASS: state->passed[rank] = action->step; break;
    case PUT: state->traded[action->peer] = now; break;
    case GET:
    case GOT: *wrong = state->traded[action->peer] != now; break;
    }
    state->at[rank]++;
    return true;
}

static uint64_t hash(const struct comm_state *state)
{
    uint64_t value = UINT64_C(14695981039346656037); /* FNV-1a */
    const uint8_t *bytes = (const uint8_t *)state;
    for (size_t i = 0; i < sizeof *state; i++)
        value = (value ^ bytes[i]) * UINT64_C(1099511628211);
    return value ? value : 1;
}

static uint64_t seen[TABLE];
static struct comm_state stack[TABLE];

/* False when the state was there before. Two states of the same 64-bit hash count as one. */
static bool is_new(const struct comm_state *state, int *states)
{
    uint64_t key = hash(state);
    size_t at = key % TABLE;
    for (; seen[at] != 0; at = (at + 1) % TABLE)
        if (seen[at] == key)
            return false;
    CHECK(++*states < TABLE / 2);
    seen[at] = key;
    return true;
}

static enum verdict explore(const struct system *system, int *states)
{
    int depth = 0;
    *states = 0;
    memset(seen, 0, sizeof seen);
    memset(&stack[0], 0, sizeof stack[0]);
    is_new(&stack[depth++], states);
    while (depth > 0 && *states < TABLE / 2) {
        struct comm_state state = stack[--depth];
        bool moved = false, finished = true;
        for (int rank = 0; rank < system->ranks; rank++) {
            struct comm_state next = state;
            bool wrong = false;
            if (state.at[rank] == system->programs[rank].count)
                continue;
            finished = false;
            if (!go_on(system, &next, rank, &wrong))
                continue;
            moved = true;
            if (wrong)
                return OVERWRITTEN;
            if (is_new(&next, states))
                stack[depth++] = next;
        }
        if (!moved && !finished)
            return STUCK;
    }
    return FINE;
}

enum { PHASES = 11 };

static void add_phase(struct system *system, int phase)
{
    switch (phase) {
    case 0: one_way(system, 0); break;
    case 1: one_way(system, 1); break;
    case 2: to_root(system, 0); break;
    case 3: to_root(system, system->ranks - 1); break;
    case 4: all_read(system); break;
    case 5: groups(system); break;
    case 6: all_read_ahead(system, 3); break;
    case 7: slices(system, 1); break;
    case 8: slices(system, 2); break;
    default:
        if (system->ranks == TRADERS)
            trade(system, phase == 9 ? 1 : 3);
    }
}

/* Ring as small as it may be: slices post up to step 2c while what is passed may be below 2c - 4. */
enum { SMALLEST_RING = 5 };

static void all_sequences(int ranks, int ring, int length)
{
    int sequences = 1, states, most = 0;
    for (int i = 0; i < length; i++)
        sequences *= PHASES;
    for (int number = 0; number < sequences; number++) {
        struct system system = {.ranks = ranks, .ring = ring};
        for (int i = 0, left = number; i < length; i++, left /= PHASES)
            add_phase(&system, left % PHASES);
        enum verdict verdict = explore(&system, &states);
        most = states > most ? states : most;
        if (verdict != FINE)
            fprintf(stderr, "%d ranks, ring %d, sequence %d: %s\n", ranks, ring, number,
                    verdict == STUCK ? "stuck" : "overwritten");
        CHECK(verdict == FINE);
    }
    printf("%d ranks, ring of %d: %d sequences of %d phases, at most %d states\n", ranks, ring, sequences, length,
           most);
}

/* The ring comes round several times. */
static void long_runs(void)
{
    for (int phase = 0; phase < 6; phase++)
        for (int ring = 2; ring <= 4; ring++) {
            struct system system = {.ranks = 2, .ring = ring};
            int states;
            for (int i = 0; i < 8; i++)
                add_phase(&system, i % 3 == 2 ? 4 : phase);
            CHECK(explore(&system, &states) == FINE);
        }
    int states;
    for (int ring = 2; ring <= 4; ring++) {
        struct system ahead = {.ranks = 2, .ring = ring};
        all_read_ahead(&ahead, 8);
        CHECK(explore(&ahead, &states) == FINE);
    }
    struct system system = {.ranks = 2, .ring = SMALLEST_RING};
    slices(&system, 4);
    CHECK(explore(&system, &states) == FINE);
    struct system trades = {.ranks = TRADERS, .ring = SMALLEST_RING};
    for (int pieces = 1; pieces < 4; pieces++) {
        trade(&trades, pieces % 4 + 1);
        one_way(&trades, pieces % 2);
    }
    CHECK(explore(&trades, &states) == FINE);
}

static void faults_are_found(void)
{
    int states;
    struct system no_room = {.ranks = 2, .ring = 2, .no_room = true};
    for (int i = 0; i < 4; i++)
        one_way(&no_room, 0);
    CHECK(explore(&no_room, &states) == OVERWRITTEN);

    struct system early_pass = {.ranks = 2, .ring = 2, .early_pass = true};
    for (int i = 0; i < 4; i++)
        one_way(&early_pass, 0);
    CHECK(explore(&early_pass, &states) == OVERWRITTEN);

    struct system late_know = {.ranks = 3, .ring = 2, .late_know = true};
    all_read(&late_know);
    for (int i = 0; i < 3; i++)
        one_way(&late_know, 0);
    CHECK(explore(&late_know, &states) == OVERWRITTEN);

    struct system early_post = {.ranks = 2, .ring = 2, .early_post = true};
    one_way(&early_post, 0);
    CHECK(explore(&early_post, &states) == OVERWRITTEN);

    struct system two_ahead = {.ranks = TRADERS, .ring = SMALLEST_RING, .two_ahead = true};
    trade(&two_ahead, 4);
    CHECK(explore(&two_ahead, &states) == OVERWRITTEN);

    struct system stays = {.ranks = TRADERS, .ring = SMALLEST_RING, .stays = true};
    trade(&stays, 1);
    trade(&stays, 1);
    CHECK(explore(&stays, &states) == OVERWRITTEN);

    struct system too_small = {.ranks = 2, .ring = SMALLEST_RING - 2};
    slices(&too_small, 4);
    CHECK(explore(&too_small, &states) == STUCK);
}

int main(void)
{
    all_sequences(2, SMALLEST_RING, 2);
    all_sequences(2, 8, 2);
    all_sequences(3, SMALLEST_RING, 1);
    all_sequences(3, 8, 1);
    long_runs();
    faults_are_found();
    return verdict();
}
