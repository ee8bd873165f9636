"""Machines to simulate: tori, fat trees, dragonflies, crossbars; where each number is from.

SimGrid's platform file, the list of hosts and the file of coordinates (UNISONO_TOPOLOGY) are written together. The
machines themselves are files (unisono.simulate.files).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import _

_HEADER = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""

KINDS = ("torus", "fat tree", "dragonfly", "crossbar")
NODES_MOST = 1 << 16
"""SimGrid reads more, but nothing on so many is simulated in a day."""


@dataclass(frozen=True, slots=True)
class Number:
    """A property of a machine; `source` says where from, or that it is assumed, or what it was fitted to."""

    value: float
    source: str

    @property
    def assumed(self) -> bool:
        return self.source.startswith("assumed")

    @property
    def fitted(self) -> bool:
        return self.source.startswith("fitted")


@dataclass(frozen=True, slots=True)
class Platform:
    """A machine of equal nodes. Bytes and seconds; bandwidths count one direction of one link."""

    name: str
    kind: str
    """One of `KINDS`."""
    extents: tuple[int, ...]
    """Of the torus; of the others the number of nodes, which need not fill the last switch or group."""
    bandwidth: Number
    latency: Number
    """Of a link: what a message takes to the next node, or switch."""
    node_bandwidth: Number
    """Of one message between processes of a node, however many there are at once."""
    node_latency: Number
    copy: Number
    """Bytes a second one process copies while all do."""
    flag: Number = Number(0.1e-6, "assumed: two misses of a cache")
    """Seconds until a process sees what another of its node has stored in shared memory."""
    start: Number = Number(0.0, "none: a sender is free at once")
    """Seconds a process is busy with each message that it sends."""
    links: int = 1
    """Of a node; `bandwidth` is that of all together."""
    one_link_below: Number = Number(0.0, "none: every message uses all links")
    """Bytes from which a message is spread over the links."""
    leaf: int = 16
    """Nodes of a fat tree's switch."""
    taper: int = 1
    """It has so many times fewer links up than nodes."""
    pod: int = 0
    """With three levels: how many of these switches make a group; 0: there are two levels."""
    pod_taper: int = 1
    """A group has so many times fewer links out than in."""
    shape: tuple[int, ...] = ()
    """Of a dragonfly: groups (more are added where the nodes need them), rows, routers of a row, nodes of a router."""
    cores: int = 16
    """Of a node."""
    about: str = ""
    """What it is, in one line."""
    source: str = ""
    """Where it is described."""
    left_out: tuple[str, ...] = ()
    """What the machine has and the simulation has not."""
    error: str = ""
    """Of a platform that was fitted to a study: how far its times are from the study's."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS or not self.extents or min(self.extents) < 1:
            raise UserError(
                _("{name}: a platform is a torus, a fat tree, a dragonfly or a crossbar with positive extents").format(
                    name=self.name
                )
            )
        if self.nodes > NODES_MOST:
            raise UserError(
                _("{name}: {nodes} nodes; {most} is the most").format(name=self.name, nodes=self.nodes, most=NODES_MOST)
            )
        positive = (self.bandwidth, self.node_bandwidth, self.copy)
        if any(number.value <= 0 for number in positive) or any(n.value < 0 for n in self.numbers.values()):
            raise UserError(
                _("{name}: bandwidths and the rate of a copy are above 0, and no time is below 0").format(
                    name=self.name
                )
            )
        if min(self.leaf, self.taper, self.pod_taper, self.links, self.cores) < 1 or self.pod < 0:
            raise UserError(_("{name}: leaf, taper, pod_taper, links and cores are 1 or more").format(name=self.name))
        if self.kind == "dragonfly":
            self._check_dragonfly()

    def _check_dragonfly(self) -> None:
        if len(self.shape) != 4 or min(self.shape) < 1:
            raise UserError(
                _("{name}: shape: write four numbers: groups, rows, routers of a row, nodes of a router").format(
                    name=self.name
                )
            )
        _groups, rows, routers, hosts = self.shape
        most = (rows * routers + 1) * rows * routers * hosts
        if self.nodes > most or self.shape[0] > rows * routers + 1:
            raise UserError(
                _("{name}: {nodes} nodes; with one link between two groups it has at most {most}").format(
                    name=self.name, nodes=self.nodes, most=most
                )
            )

    @property
    def nodes(self) -> int:
        return prod(self.extents)

    @property
    def numbers(self) -> dict[str, Number]:
        names = ("bandwidth", "latency", "node_bandwidth", "node_latency", "copy", "flag", "start", "one_link_below")
        return {name: getattr(self, name) for name in names}

    @property
    def far(self) -> float:
        """Seconds of latency that an algorithm expects of a message: on a torus on average over the nodes 1, 2, 4 ...
        further on, as the library measures it; else between nodes that are furthest apart."""
        hops = [self._hops(2**k) for k in range((self.nodes - 1).bit_length())] or [1]
        torus = sum(hops) / len(hops)
        links = {"torus": torus, "crossbar": 2, "fat tree": 6 if self.pod else 4, "dragonfly": 7}
        return links[self.kind] * self.latency.value

    def _hops(self, place: int) -> int:
        """Links of a torus from place 0."""
        total = 0
        for extent in self.extents:
            place, at = divmod(place, extent)
            total += min(at, extent - at)
        return total

    @property
    def near(self) -> float:
        """The same between two neighbours of a torus; elsewhere nodes that follow one another may be far apart."""
        return self.latency.value if self.kind == "torus" else self.far

    def resized(self, extents: Sequence[int]) -> Platform:
        return replace(self, extents=tuple(extents))

    def sized(self, nodes: int) -> Platform:
        """The same with so many nodes: a torus keeps its extents where they fit, else is nearly a cube."""
        if nodes == self.nodes:
            return self
        return self.resized(near_cube(nodes, len(self.extents)) if self.kind == "torus" else (nodes,))

    def xml(self) -> str:
        shape, room = self._topology()
        return (
            f'{_HEADER}<cluster id="machine" {shape} prefix="n" suffix="" radical="0-{room - 1}" speed="1Gf" '
            f'core="{self.cores}" bw="{self.bandwidth.value:.0f}Bps" lat="{self.latency.value:g}s" '
            f'loopback_bw="{self.node_bandwidth.value:.0f}Bps" loopback_lat="{self.node_latency.value:g}s"/>\n'
            "</platform>\n"
        )

    def _topology(self) -> tuple[str, int]:
        """SimGrid's words for it, and how many nodes it then has."""
        if self.kind == "crossbar":
            return 'sharing_policy="SPLITDUPLEX"', self.nodes
        if self.kind == "torus":
            # SimGrid 3.32 ends where two extents are 1; a place has the same number without them.
            extents = [extent for extent in self.extents if extent > 1] or [1]
            return f'topology="TORUS" topo_parameters="{",".join(map(str, extents))}"', self.nodes
        if self.kind == "fat tree":
            return self._tree()
        groups, rows, routers, hosts = self.shape
        group = rows * routers * hosts
        groups = max(groups, -(-self.nodes // group))
        words = f'topology="DRAGONFLY" topo_parameters="{groups},1;{rows},1;{routers},1;{hosts}"'
        return words, groups * group

    def _tree(self) -> tuple[str, int]:
        leaves, up = -(-self.nodes // self.leaf), max(1, self.leaf // self.taper)
        if not self.pod:
            return f'topology="FAT_TREE" topo_parameters="2;{self.leaf},{leaves};1,{up};1,1"', leaves * self.leaf
        pods, out = -(-leaves // self.pod), max(1, self.pod // self.pod_taper)
        words = f'topology="FAT_TREE" topo_parameters="3;{self.leaf},{self.pod},{pods};1,{up},{out};1,1,1"'
        return words, pods * self.pod * self.leaf

    def options(self) -> list[str]:
        """smpirun's options for what the platform file cannot say."""
        found = []
        if self.start.value:
            found += [f"--cfg=smpi/{kind}:0:{self.start.value:g}:0" for kind in ("os", "ois")]
        if self.links > 1 and self.one_link_below.value:
            # The model of SMPI without its factors of another machine, which is CM02 with ours.
            factor = f"0:{1 / self.links:g};{self.one_link_below.value:.0f}:1"
            found += ["--cfg=network/model:SMPI", "--cfg=smpi/lat-factor:0:1", f"--cfg=smpi/bw-factor:{factor}"]
            return [*found, "--cfg=network/TCP-gamma:0", "--cfg=network/weight-S:0"]
        # The default network model's factors were fitted on another machine; CM02 has none.
        return [*found, "--cfg=network/model:CM02"]

    def write(self, folder: Path, ppn: int) -> None:
        """platform.xml, hosts and, for a torus, coordinates in `folder`; ranks go to nodes in blocks."""
        (folder / "platform.xml").write_text(self.xml())
        (folder / "hosts").write_text("".join(f"n{node}\n" * ppn for node in range(self.nodes)))
        if self.kind == "torus":
            shape = "x".join(map(str, self.extents))
            (folder / "coordinates").write_text(f"extents {shape} torus\nnames n%n\n")


def near_cube(nodes: int, dimensions: int) -> tuple[int, ...]:
    """Extents of a torus of so many nodes, the largest first, the longest as short as can be."""
    if dimensions == 1:
        return (nodes,)
    found = (nodes, *(1,) * (dimensions - 1))
    for least in range(1, round(nodes ** (1 / dimensions)) + 1):
        if nodes % least == 0:
            rest = near_cube(nodes // least, dimensions - 1)
            if rest[0] <= found[0] and least <= rest[-1]:
                found = (*rest, least)
    return found
