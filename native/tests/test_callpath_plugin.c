/* Opened by test_callpath at run time: code that calls from an object that was not there before. */
#include "test_callpath_probe.h"

__attribute__((visibility("default"))) bool plugin_call(int depth, int most)
{
    volatile char room[64] = {0};
    bool right = depth > 0 ? plugin_call(depth - 1, most) : probe(most);
    return right && room[0] == 0;
}
