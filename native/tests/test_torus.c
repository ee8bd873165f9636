/* Places, boxes, the file of coordinates. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "coordinates.h"
#include "torus/torus.h"

static void test_arithmetic(void)
{
    struct torus torus = {3, {8, 8, 6}, {true, true, true}};
    CHECK(torus_places(&torus) == 384);
    for (int place = 0; place < 384; place++) {
        int at[TORUS_MOST];
        torus_at(&torus, place, at);
        CHECK(torus_place(&torus, at) == place);
        for (int offset = 0; offset < 384; offset += 7)
            CHECK(torus_add(&torus, torus_add(&torus, place, offset, 1), offset, -1) == place);
    }
    CHECK(torus_distance(&torus, 4, 0) == 4 && torus_distance(&torus, 5, 0) == -3);
    torus.wraps[0] = false;
    CHECK(torus_distance(&torus, 5, 0) == 5 && !torus_wraps(&torus));
}

/* A box of the machine that begins somewhere, its nodes in any order. */
static bool recognised(const struct torus *machine, const int *begins, const int *lengths, struct cuboid *cuboid)
{
    struct torus box = {machine->dimensions, {0}, {0}};
    memcpy(box.extent, lengths, sizeof box.extent);
    int nodes = torus_places(&box), places[1024];
    for (int node = 0; node < nodes; node++) {
        int at[TORUS_MOST];
        torus_at(&box, node * 5 % nodes, at);
        for (int d = 0; d < box.dimensions; d++)
            at[d] = (at[d] + begins[d]) % machine->extent[d];
        places[node] = torus_place(machine, at);
    }
    return cuboid_create(cuboid, machine, places, nodes);
}

static void test_boxes(void)
{
    struct torus machine = {3, {8, 8, 6}, {true, true, false}};
    struct cuboid cuboid;
    CHECK(recognised(&machine, (int[6]){0}, (int[6]){8, 8, 6}, &cuboid));
    CHECK(cuboid.torus.dimensions == 3 && cuboid.torus.wraps[0] && !cuboid.torus.wraps[2]);
    for (int place = 0; place < 384; place++)
        CHECK(cuboid.place_of[cuboid.node_at[place]] == place);
    cuboid_free(&cuboid);

    /* Over the edge where it wraps; one layer, so two dimensions. */
    CHECK(recognised(&machine, (int[6]){6, 1, 2}, (int[6]){4, 8, 1}, &cuboid));
    CHECK(cuboid.torus.dimensions == 2 && cuboid.torus.extent[0] == 4 && !cuboid.torus.wraps[0]);
    CHECK(cuboid.torus.extent[1] == 8 && cuboid.torus.wraps[1]);
    cuboid_free(&cuboid);
    CHECK(!recognised(&machine, (int[6]){0, 0, 4}, (int[6]){2, 2, 4}, &cuboid) && cuboid.node_at == NULL);

    CHECK(cuboid_create(&cuboid, &machine, (int[]){9}, 1) && cuboid.torus.dimensions == 0);
    cuboid_free(&cuboid);
    CHECK(!cuboid_create(&cuboid, &machine, (int[]){0, 1, 3, 4}, 4)); /* a gap */
    CHECK(!cuboid_create(&cuboid, &machine, (int[]){0, 1, 8, 8}, 4)); /* two at one place */
    CHECK(!cuboid_create(&cuboid, &machine, (int[]){0, 1, 8}, 3));    /* a corner is missing */
    CHECK(!cuboid_create(&cuboid, &machine, (int[]){0, -1}, 2));      /* nothing known of one */
}

static int place_in(const char *text, const char *host, int number)
{
    struct torus machine;
    int place;
    char reason[200];
    return coordinates_read(text, host, number, &machine, &place, reason, sizeof reason) ? place : -2;
}

static void test_file(void)
{
    static const char hosts[] = "# a machine\nextents 4x3x2 torus torus mesh\na 0 0 0\r\n b1  3 2 1 # last\n";
    CHECK(place_in(hosts, "a", 7) == 0 && place_in(hosts, "b1", 7) == 23 && place_in(hosts, "b1.site.org", 0) == 23);
    CHECK(place_in(hosts, "b", 0) == -1 && place_in(hosts, "b12", 0) == -1);
    CHECK(place_in("grid 4x4x2 torus\n", "any", 5) == 5 && place_in("grid 2 mesh", "any", 2) == -1);
    CHECK(place_in("extents 8x8 mesh\nnames n%x-%y", "n3-2", 0) == 19);
    CHECK(place_in("extents 8x8 mesh\nnames n%y%x", "n3", 0) == -1);
    CHECK(place_in("extents 8x8 mesh\nnames n%n", "n63.local", 0) == 63 &&
          place_in("extents 8x8 mesh\nnames n%n", "n64", 0) == -1);
    struct torus machine;
    int place;
    char reason[200];
    CHECK(coordinates_read(hosts, "a", 0, &machine, &place, reason, sizeof reason));
    CHECK(machine.dimensions == 3 && machine.extent[1] == 3 && machine.wraps[0] && !machine.wraps[2]);
}

static void test_wrong_files(void)
{
    static const char *const wrong[] = {
        "", "# nothing\n", "extents 8x8x\n", "extents 8x0 torus", "extents 8 ring", "extents 8x8 torus mesh torus",
        "extents 99999999 torus", "a 0 0 0\n", "extents 2x2 torus\na 0 0\nb 0 2", "extents 2x2 torus\na 0", "grid",
        "extents 2x2 torus\nnames n%x", "extents 2x2 torus\nnames n%x%q", "extents 2x2 torus\nnames n%",
        "extents 2x2 torus\nextents 2x2 torus", "extents 4096x4096x4096 torus", "extents 1x1x1x1x1x1x1 torus",
        "extents 2x2 torus\na 0 0 0 0 0 0 0 0 0 0",
        /* As many in sum as if each were there once. */
        "extents 2x2 torus\nnames n%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(place_in(wrong[i], "a", 0) == -2);
    char *text = malloc(2000);
    memset(text, 'x', 1999);
    text[1999] = '\0';
    CHECK(place_in(text, "a", 0) == -2);
    free(text);
    struct torus machine;
    int place;
    char reason[200];
    CHECK(!coordinates_read("\nextents 8 ring\n", "a", 0, &machine, &place, reason, sizeof reason));
    CHECK(strncmp(reason, "line 2: expected extents", 24) == 0);
}

int main(void)
{
    test_arithmetic();
    test_boxes();
    test_file();
    test_wrong_files();
    return verdict();
}
