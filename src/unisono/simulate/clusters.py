"""The two machines of Nakajima (2009) as its solver meets them: T2K and Cray XT4; where each number is from.

K. Nakajima, T2K Open Supercomputer tuning lectures: evaluation of hybrid parallel programming models (II), 2009.
"Fitted" numbers were chosen so that the simulation meets the document at the few points named; everything else that the
document says is then predicted. benchmarks/layouts_simulated.py fits them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unisono.errors import UserError
from unisono.language import _
from unisono.simulate.platforms import Number, Platform


@dataclass(frozen=True, slots=True)
class Cluster:
    """Nodes of sockets of cores, and their network. Seconds and bytes; bandwidths count one direction of one link."""

    name: str
    sockets: int
    cores: int
    """Of a socket."""
    links: int
    """Of a node: all are used unless told otherwise."""
    torus: bool
    memory: Number
    """Bytes a second of one socket."""
    efficiency: Mapping[str, Number]
    """Layout -> what it gets of that: by the document on 32 cores, flat MPI 1."""
    cache: Number
    """Bytes of a socket that keep vectors from one use to the next."""
    link: Number
    striped_from: Number
    """Smaller messages go over one link."""
    latency: Number
    """Of a message between nodes, and ..."""
    hop: Number
    """... more for each link of its route."""
    message: Number
    """Seconds that a node's adapter needs for each message, those of all its processes in turn; with one link."""
    message_bonded: Number
    """The same when several links may be used, and ..."""
    stripe: Number
    """... what a message over several of them takes beyond that."""
    node_bandwidth: Number
    node_latency: Number
    region: Number
    """Seconds of a parallel region of OpenMP, and of a parallel loop that packs for one neighbour on one socket."""
    barrier: Number
    """Of a barrier inside a region, for each socket that takes part, ..."""
    barrier_node: Number
    """... but of one among all sockets of a node that has several."""
    loop_across: Number
    """Of a parallel loop that packs for one neighbour into a buffer that several sockets write."""
    pack: Number
    """Seconds in which a thread moves a node of the mesh into a buffer or out of it."""

    @property
    def node_cores(self) -> int:
        return self.sockets * self.cores

    @property
    def numbers(self) -> dict[str, Number]:
        """All by name; those of layouts with the layout."""
        names = (
            "memory", "cache", "link", "striped_from", "latency", "hop", "message", "message_bonded", "stripe",
            "node_bandwidth", "node_latency", "region", "barrier", "barrier_node",
            "loop_across", "pack",
        )  # fmt: skip
        return {
            **{name: getattr(self, name) for name in names},
            **{f"efficiency {layout}": number for layout, number in self.efficiency.items()},
        }

    def nodes(self, cores: int) -> int:
        """Raises UserError when they fill no whole number of nodes, or on a torus no power of two."""
        nodes, rest = divmod(cores, self.node_cores)
        if nodes < 1 or rest:
            raise UserError(
                _("{cores} cores: {name} has nodes of {node_cores}; write a multiple of that").format(
                    cores=cores, name=self.name, node_cores=self.node_cores
                )
            )
        if self.torus and nodes & (nodes - 1):
            raise UserError(
                _("{cores} cores: {nodes} nodes make no torus here; a power of two does").format(
                    cores=cores, nodes=nodes
                )
            )
        return nodes

    def extents(self, nodes: int) -> tuple[int, int, int]:
        """Of the torus: as near to a cube as powers of two can be."""
        power = nodes.bit_length() - 1
        x, y, z = (1 << (power + 2 - d) // 3 for d in range(3))
        return x, y, z

    def platform(self, nodes: int) -> Platform:
        """Routes and their latency; the adapters' queues are the skeleton's (native/simulate/skeleton.c)."""
        shape = self.extents(nodes) if self.torus else (nodes,)
        return Platform(
            self.name,
            "torus" if self.torus else "crossbar",
            shape,
            bandwidth=_WIDE,
            latency=self.hop,
            node_bandwidth=_WIDE,
            node_latency=self.node_latency,
            copy=_WIDE,
        )


_WIDE = Number(1e12, "none: messages carry no data here")

T2K = Cluster(
    "T2K",
    sockets=4,
    cores=4,
    links=4,
    torus=False,
    memory=Number(5e9, "assumed: a quarter of a node's 20 GB/s"),
    efficiency={
        "1x16": Number(1.0, "unit"),
        "4x4": Number(0.9732, "fitted: 31.3 on 32 cores"),
        "8x2": Number(0.9614, "fitted: 30.9 on 32 cores"),
        "16x1": Number(0.9567, "fitted: 30.7 on 32 cores"),
    },
    cache=Number(3.674e05, "fitted: flat MPI, 882 on 1,024 cores"),
    link=Number(1.25e9, "Myrinet-10G: Nakajima 2009, section 1"),
    striped_from=Number(32768, "Nakajima 2009, section 6"),
    latency=Number(2e-6, "Nakajima 2009, table 1"),
    hop=Number(0, "none: full bisection, section 1"),
    message=Number(1.565e-06, "fitted: flat MPI, 965 with one link, and figure 14's factor of 2 on 512 cores"),
    message_bonded=Number(3.185e-06, "fitted with `message`"),
    stripe=Number(3.156e-05, "fitted: figure 17's N = 48, the same with 4 links and with 1"),
    node_bandwidth=Number(5e9, "assumed"),
    node_latency=Number(0.5e-6, "assumed"),
    region=Number(5e-6, "assumed"),
    barrier=Number(1.25e-6, "assumed"),
    barrier_node=Number(4.582e-05, "fitted: HB 16x1 packed by one thread, 919 on 1,024 cores"),
    loop_across=Number(3.498e-05, "fitted: HB 8x2 on 1,024 cores, 997 over 899"),
    pack=Number(5e-8, "assumed: a cache line of memory"),
)

XT4 = Cluster(
    "Cray XT4",
    sockets=1,
    cores=4,
    links=1,
    torus=True,
    memory=Number(7.241e09, "fitted: 1.5 times T2K on 32 cores, the lower end of section 4's 1.5 to 2.0"),
    efficiency={"1x4": Number(1.0, "unit"), "4x1": Number(0.9884, "fitted: 31.9 on 32 cores")},
    cache=Number(4e6, "the processor's: four L2 of 512 KB and an L3 of 2 MB, each keeping what the others do not"),
    link=Number(2e9, "assumed: into the network; a direction of the torus has 7.6 GB/s (Nakajima 2009, table 1)"),
    striped_from=Number(0, "none: one adapter"),
    latency=Number(5.2e-6, "Nakajima 2009, table 1: 5 to 6 us"),
    hop=Number(5e-8, "assumed"),
    message=Number(8.964e-06, "fitted: flat MPI, 888 on 1,024 cores"),
    message_bonded=Number(8.964e-06, "none: one adapter"),
    stripe=Number(0, "none: one adapter"),
    node_bandwidth=Number(5e9, "assumed"),
    node_latency=Number(0.5e-6, "assumed"),
    region=Number(5e-6, "assumed, as on T2K"),
    barrier=Number(1.25e-6, "assumed, as on T2K"),
    barrier_node=Number(1.25e-6, "none: one socket"),
    loop_across=Number(5e-6, "none: one socket"),
    pack=Number(5e-8, "assumed, as on T2K"),
)

CLUSTERS = {"t2k": T2K, "xt4": XT4}
