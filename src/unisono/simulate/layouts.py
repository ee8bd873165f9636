"""The solver's skeleton and Nakajima's microbenchmarks on a simulated cluster, in any layout: one smpirun each."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from unisono.cmdline.layouts import Layout
from unisono.core.errors import LaunchError, UserError
from unisono.core.language import N_, _
from unisono.simulate.clusters import Cluster
from unisono.simulate.programs import skeleton
from unisono.simulate.run import OPTIONS, output_of

ITERATIONS = 1
"""All processes begin at once. A second one, begun where the first ended, takes up to 2 % longer."""
CORES = (32, 64, 128, 256, 512, 1024)
SIZE = 144
"""Nodes of the mesh along the document's cube."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is simulated. `kind`: "solver", or flat MPI's "allreduce5", "halo26" (`length`: N of its 3 N^2 doubles)."""

    layout: Layout
    cores: int
    links: int
    threaded: bool = False
    """All threads of a process pack its halo, not one."""
    size: int = SIZE
    kind: str = "solver"
    length: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """Seconds of an iteration, or of one allreduce, until the last process is through; and the mean process's parts."""

    seconds: float
    operations: float
    computing: float
    packing: float
    exchange: float
    allreduce: float

    @property
    def gflops(self) -> float:
        return self.operations / self.seconds / 1e9


def machine_words(cluster: Cluster, case: Case) -> dict[str, float]:
    """KEY -> value of native/simulate/skeleton.c's struct machine."""
    layout = case.layout
    share = layout.threads / cluster.cores
    across = layout.threads > cluster.cores
    efficiency = cluster.efficiency.get(layout.name)
    sockets = max(1, -(-layout.threads // cluster.cores))
    whole = across and sockets == cluster.sockets
    bonded = case.links > 1
    return {
        "bandwidth": cluster.memory.value * share * (efficiency.value if efficiency else 1.0),
        "cache": cluster.cache.value * share,
        "region": cluster.region.value,
        "barrier": cluster.barrier_node.value if whole else cluster.barrier.value * sockets,
        "loop": (cluster.loop_across if across else cluster.region).value,
        "pack": cluster.pack.value,
        "message": (cluster.message_bonded if bonded else cluster.message).value,
        "stripe": cluster.stripe.value,
        "link": cluster.link.value,
        "whole": cluster.striped_from.value,
        "latency": cluster.latency.value,
        "inside": cluster.node_bandwidth.value,
    }


def check(cluster: Cluster, case: Case) -> None:
    """Raises UserError when the layout does not fill the cluster's nodes, or there are too few links or mesh nodes."""
    layout = case.layout
    if layout.cores != cluster.node_cores:
        raise UserError(
            _("{words} takes {cores} cores a node; {name}'s have {node_cores}").format(
                words=layout.words, cores=layout.cores, name=cluster.name, node_cores=cluster.node_cores
            )
        )
    if not 1 <= case.links <= cluster.links:
        raise UserError(
            _("--links {links}: {name} has {links2}").format(links=case.links, name=cluster.name, links2=cluster.links)
        )
    ranks = cluster.nodes(case.cores) * layout.processes
    if case.size**3 < ranks:
        raise UserError(
            _("--size {size}: {size2} nodes of the mesh are too few for {ranks} processes").format(
                size=case.size, size2=case.size**3, ranks=ranks
            )
        )


def argv(cluster: Cluster, case: Case, folder: Path, program: Path) -> list[str]:
    """The whole command line. Raises UserError as `check` does."""
    check(cluster, case)
    layout = case.layout
    nodes = cluster.nodes(case.cores)
    words: dict[str, float] = {
        **machine_words(cluster, case),
        "nodes": case.size,
        "processes": layout.processes,
        "threads": layout.threads,
        "links": case.links,
        "iterations": ITERATIONS,
        "length": case.length,
        "threaded": case.threaded,
    }
    ranks = nodes * layout.processes
    where = ["-np", str(ranks), "-platform", str(folder / "platform.xml"), "-hostfile", str(folder / "hosts")]
    what = [case.kind, *(f"{key}={value:.9g}" for key, value in words.items())]
    options = [*OPTIONS, *cluster.platform(nodes).options(), "--cfg=smpi/wtime:0"]
    return ["smpirun", *where, *options, str(program), *what]


def simulate(cluster: Cluster, case: Case, deadline: float = 300.0) -> Step:
    """Raises UserError, or LaunchError when it took longer than the deadline or failed."""
    program = skeleton()
    with tempfile.TemporaryDirectory(prefix="unisono-layouts-") as name:
        folder = Path(name)
        line = argv(cluster, case, folder, program)
        cluster.platform(cluster.nodes(case.cores)).write(folder, case.layout.processes)
        return read(output_of(line, dict(os.environ), folder, deadline))


def simulate_all(cluster: Cluster, cases: Sequence[Case], deadline: float = 300.0) -> Iterator[tuple[Case, Step]]:
    """In their order, as many at once as there are processors."""
    skeleton()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from zip(cases, pool.map(lambda case: simulate(cluster, case, deadline), cases), strict=True)


def read(output: str) -> Step:
    """What the program printed."""
    lines = [line.split()[1:] for line in output.splitlines() if line.startswith("@ ")]
    if len(lines) != 1 or len(lines[0]) != 6:
        raise LaunchError(
            "crashed", N_("the simulation said: {output}").format(output=output.strip()[:300] or "nothing")
        )
    return Step(*map(float, lines[0]))
