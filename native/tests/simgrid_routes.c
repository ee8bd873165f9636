/* For tests/simulate: the routes that SimGrid itself takes. `simgrid_routes PLATFORM`: a line for each pair of hosts, how
 * many links they are apart and which. */
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <xbt/dynar.h>

static int number(sg_host_t host)
{
    return atoi(sg_host_get_name(host) + 1);
}

int main(int argc, char **argv)
{
    simgrid_init(&argc, argv);
    simgrid_load_platform(argv[1]);
    sg_host_t *hosts = sg_host_list();
    for (size_t from = 0; from < sg_host_count(); from++)
        for (size_t to = 0; to < sg_host_count(); to++) {
            if (from == to)
                continue;
            xbt_dynar_t links = xbt_dynar_new(sizeof(sg_link_t), NULL);
            sg_host_get_route(hosts[from], hosts[to], links);
            printf("%d %d", number(hosts[from]), number(hosts[to]));
            for (unsigned i = 0; i < xbt_dynar_length(links); i++)
                printf(" %s", sg_link_get_name(xbt_dynar_get_as(links, i, sg_link_t)));
            printf("\n");
            xbt_dynar_free(&links);
        }
    return 0;
}
