/* Files of coordinates: the first line is this host's name, the second its node's number, the rest the file. */
#include "coordinates.h"
#include "fuzz.h"

enum { HOST_BYTES = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct torus machine;
    char reason[200] = "", *text = fuzz_text(data, size), *at = text, host[HOST_BYTES] = "node001.cluster";
    int place, number = 0;
    size_t length = strcspn(at, "\n");
    if (at[length] == '\n' && length < sizeof host) {
        memcpy(host, at, length);
        host[length] = '\0';
        at += length + 1;
        number = atoi(at) & 0xffffff;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    /* Exactly, for the sanitizer. */
    char *exact_host = strdup(host);
    FUZZ_CHECK(exact_host != NULL);
    bool good = coordinates_read(at, exact_host, number, &machine, &place, reason, sizeof reason);
    FUZZ_CHECK(good == (reason[0] == '\0'));
    FUZZ_CHECK(strchr(reason, '\n') == NULL);
    if (good) {
        FUZZ_CHECK(machine.dimensions > 0 && machine.dimensions <= TORUS_MOST);
        for (int d = 0; d < machine.dimensions; d++)
            FUZZ_CHECK(machine.extent[d] > 0);
        FUZZ_CHECK(place >= -1 && place < torus_places(&machine));
        if (place >= 0) {
            struct cuboid cuboid;
            int coordinates[TORUS_MOST];
            torus_at(&machine, place, coordinates);
            FUZZ_CHECK(torus_place(&machine, coordinates) == place);
            if (cuboid_create(&cuboid, &machine, &place, 1))
                cuboid_free(&cuboid);
        }
    }
    free(exact_host);
    free(text);
    return 0;
}
