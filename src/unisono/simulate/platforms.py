"""Machines to simulate: a torus, a fat tree, a crossbar; where each number is from.

SimGrid's platform file, the list of hosts and the file of coordinates (UNISONO_TOPOLOGY) are written together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from unisono.errors import UserError
from unisono.language import _

_HEADER = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""


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
    """"torus", "fat tree" or "crossbar"."""
    extents: tuple[int, ...]
    """Of the torus; of the others the number of nodes. A fat tree has leaf switches of `leaf` nodes."""
    bandwidth: Number
    latency: Number
    """Of a link: what a message takes to the next node."""
    node_bandwidth: Number
    """Of one message between processes of a node, however many there are at once."""
    node_latency: Number
    copy: Number
    """Bytes a second one process copies while all do."""
    flag: Number = Number(0.1e-6, "assumed: two misses of a cache")
    """Seconds until a process sees what another of its node has stored in shared memory."""
    leaf: int = 16

    def __post_init__(self) -> None:
        if self.kind not in ("torus", "fat tree", "crossbar") or not self.extents or min(self.extents) < 1:
            raise UserError(
                _("{name}: a platform is a torus, a fat tree or a crossbar with positive extents").format(
                    name=self.name
                )
            )
        if self.kind == "fat tree" and self.nodes % self.leaf:
            raise UserError(
                _("{name}: {nodes} nodes do not fill switches of {leaf}").format(
                    name=self.name, nodes=self.nodes, leaf=self.leaf
                )
            )

    @property
    def nodes(self) -> int:
        return prod(self.extents)

    @property
    def numbers(self) -> dict[str, Number]:
        names = ("bandwidth", "latency", "node_bandwidth", "node_latency", "copy", "flag")
        return {name: getattr(self, name) for name in names}

    def resized(self, extents: Sequence[int]) -> Platform:
        return replace(self, extents=tuple(extents))

    def xml(self) -> str:
        leaves = f"2;{self.leaf},{self.nodes // self.leaf};1,{self.leaf};1,1"
        shape = {
            "torus": f'topology="TORUS" topo_parameters="{",".join(map(str, self.extents))}"',
            "fat tree": f'topology="FAT_TREE" topo_parameters="{leaves}"',
            "crossbar": 'sharing_policy="SPLITDUPLEX"',
        }[self.kind]
        return (
            f'{_HEADER}<cluster id="machine" {shape} prefix="n" suffix="" radical="0-{self.nodes - 1}" speed="1Gf" '
            f'core="16" bw="{self.bandwidth.value:.0f}Bps" lat="{self.latency.value:g}s" '
            f'loopback_bw="{self.node_bandwidth.value:.0f}Bps" loopback_lat="{self.node_latency.value:g}s"/>\n'
            "</platform>\n"
        )

    def write(self, folder: Path, ppn: int) -> None:
        """platform.xml, hosts and, for a torus, coordinates in `folder`; ranks go to nodes in blocks."""
        (folder / "platform.xml").write_text(self.xml())
        (folder / "hosts").write_text("".join(f"n{node}\n" * ppn for node in range(self.nodes)))
        if self.kind == "torus":
            shape = "x".join(map(str, self.extents))
            (folder / "coordinates").write_text(f"extents {shape} torus\nnames n%n\n")


FX10 = Platform(
    "PRIMEHPC FX10",
    "torus",
    (8, 8, 6),
    bandwidth=Number(5e9, "Tofu: 5 GB/s a link and direction (Ajima et al., IEEE Computer 42(11), 2009)"),
    latency=Number(1e-6, "assumed: 1 us to a neighbour, charged at every hop (Tofu's own hops take about 0.1 us)"),
    node_bandwidth=Number(2e9, "assumed: copied in and out at once, at the rate of a copy"),
    node_latency=Number(0.3e-6, "assumed"),
    copy=Number(2e9, "assumed: 16 processes copying at 64 GB/s of reads and writes together"),
)
"""384 nodes as in Fujitsu (2014). Four DMA engines (20 GB/s of injection) are not modelled: six links may be used."""

FAT_TREE = Platform(
    "fat tree",
    "fat tree",
    (64,),
    bandwidth=Number(12.234e9, "measured on OCI BM.Optimized3.36: PingPong 12,234 MB/s"),
    latency=Number(0.4e-6, "measured PingPong of 1.67 us, over two links to a switch and two from it"),
    node_bandwidth=Number(4e9, "assumed: copied in and out at once, at the rate of a copy"),
    node_latency=Number(0.3e-6, "assumed"),
    copy=Number(4e9, "assumed"),
)
CROSSBAR = replace(
    FAT_TREE, name="crossbar", kind="crossbar", latency=Number(0.835e-6, "half of the measured PingPong of 1.67 us")
)
