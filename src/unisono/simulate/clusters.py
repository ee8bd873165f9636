"""Machines as a solver of processes and threads meets them; their numbers are in files (unisono.simulate.files)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unisono.core.errors import UserError
from unisono.core.language import _
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
