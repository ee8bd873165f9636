"""Our collectives over several nodes against those of other MPI libraries, on a virtual cluster with shaped links.

    python -m benchmarks.collectives_nodes                     4 nodes x 2 ranks and 2 x 4, about an hour
    python -m benchmarks.collectives_nodes --layout 4x2 --collective bcast --size 16384 --rounds 1
    python -m benchmarks.collectives_nodes --keep times.jsonl --minutes 4      again and again until nothing is missing
    python -m benchmarks.collectives_nodes --mpich VENV/bin/mpiexec --intel VENV/bin/mpiexec
    python -m benchmarks.collectives_nodes --keep times.jsonl --markdown               print it, and measure nothing

Links of 1 Gbit/s between namespaces of this machine (tests/cluster). In every round each peer is launched by itself:
Open MPI as it is, Open MPI without HAN, MPICH where it is installed, Intel MPI where it is given (it runs the program
that MPICH built). Our algorithms run over each of them but the second, in a launch in turn with what that MPI does
itself. A peer's time is the better of the two, as some are quicker where nothing else happens between their calls.
Prints, per size, the best of ours and over which MPI, each peer, best peer / ours, the share of the links' bound, and
which of ours the cost model would take, where nothing was measured, and its time over the best; then, for each MPI,
what ours gain over that MPI itself. Times are of the slowest rank after a barrier, medians over calls, then over
rounds. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from unisono.core.errors import UserError
from unisono.library.native import Target, built
from unisono.vcluster.cluster import AGENT, ClusterError, VirtualCluster

TRY = Target(
    "collectives_try",
    "collectives/collectives_try",
    ("collectives", "common", "tests/collectives_try.c"),
    "the trial of our collectives",
)
COLLECTIVES = ("bcast", "reduce", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv")
SIZES = (8, 1024, 16384, 65536, 262144, 1048576)
LARGE = 16384
BYTE = 8e-9
"""Seconds, on a link of 1 Gbit/s."""
COSTS = "2e-6 1.2e-10 25e-6 8e-9"
"""What the cost model is told: seconds of a message and a byte on the node, and between nodes."""
REST = "1000"
"""Microseconds before each call: after 0.5 ms without traffic a link lets 64 KiB through at once, by which whatever
comes after an algorithm that sends little would gain."""
QUIET = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "10"}
"""MPICH's ranks that wait let others work; Open MPI's do by the cluster's own environment."""
OURS = re.compile(r"^([\w:]+) +(\d+) B  ours +([\d.]+) us  library +([\d.]+) us .* model +([\d.]+) us +(right|WRONG)$")
ALONE = re.compile(r"^(\w+) +(\d+) B  library +([\d.]+) us$")

CHOOSES = "Open MPI"
WITHOUT_HAN = "without HAN"
BY_ITSELF = ", by itself"
ITSELF = "mpi"
"""What serves a call where it is none of ours: in rules, too."""
Who = tuple[str, str]
"""What served, under which peer."""
Times = dict[int, dict[Who, list[float]]]
"""Microseconds of each round, by size."""
Launch = tuple[str, str, int, str]
"""Layout, collective, round, peer."""


def leaves(node: int, nodes: int, ppn: int, size: int) -> int:
    """Bytes, of the trial's alltoallv, whose blocks differ."""
    ranks = nodes * ppn
    own = range(node * ppn, (node + 1) * ppn)
    return sum(size // 2 + size * ((a + 2 * b) % ranks) // ranks for a in own for b in range(ranks) if b not in own)


def bound(collective: str, nodes: int, ppn: int, size: int) -> float:
    """Seconds that the busiest link needs at least."""
    others = nodes - 1
    carried = {
        "allreduce": 2 * size * others / nodes,
        "allgather": others * ppn * size,
        "allgatherv": others * ppn * size,
        "alltoall": others * ppn * ppn * size,
        "alltoallv": max(leaves(node, nodes, ppn, size) for node in range(nodes)),
    }
    return carried.get(collective, size) * BYTE


def launches(given: argparse.Namespace, nodes: int, ppn: int) -> Iterable[tuple[str, list[str], str, dict[str, str]]]:
    """Peer, command line up to the program, its mpicc, environment."""
    mpirun: Path = given.mpirun
    hosts = ",".join(f"n{i}:{ppn}" for i in range(nodes))
    line = [str(mpirun), "--host", hosts, "-n", str(nodes * ppn), "--bind-to", "none", "--mca", "btl", "^ofi"]
    line += ["-x", "TRY_SECONDS", "-x", "TRY_PAUSE", "-x", "TRY_COSTS"]
    mpicc = str(mpirun.with_name("mpicc"))
    yield CHOOSES, line, mpicc, {}
    yield WITHOUT_HAN, [*line, "--mca", "coll", "^han"], mpicc, {}
    agent = str(AGENT)
    names = ["-hosts", ",".join(f"n{i}" for i in range(nodes)), "-ppn", str(ppn), "-n", str(nodes * ppn)]
    mpich = given.mpich or shutil.which("mpiexec.mpich")
    mpich_cc = str(Path(given.mpich).with_name("mpicc")) if given.mpich else shutil.which("mpicc.mpich")
    if mpich and mpich_cc:
        yield "MPICH", [mpich, "-launcher", "ssh", "-launcher-exec", agent, *names], mpich_cc, QUIET
        if given.intel:
            prefix = Path(given.intel).absolute().parents[1]
            library = str(prefix / "lib")
            env = {"I_MPI_ROOT": str(prefix), "LD_LIBRARY_PATH": library, "I_MPI_FABRICS": "shm:ofi"}
            env |= {"FI_PROVIDER": "tcp", "FI_PROVIDER_PATH": library, "I_MPI_WAIT_MODE": "1"}
            yield "Intel MPI", [given.intel, "-bootstrap", "ssh", "-bootstrap-exec", agent, *names], mpich_cc, env


def started(cluster: VirtualCluster, argv: list[str], env: dict[str, str], deadline: float) -> str:
    """What it printed; a launch that fails or hangs is said and left out."""
    try:
        done = subprocess.run(
            cluster.wrap(argv),
            env={**os.environ, **cluster.env, **env},
            capture_output=True,
            text=True,
            timeout=deadline,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        sys.stderr.write(f"not within {deadline:g} s: {' '.join(argv[-8:])}\n")
        said = error.stdout or b""
        return said.decode(errors="replace") if isinstance(said, bytes) else said
    if done.returncode:
        sys.stderr.write(f"status {done.returncode}: {' '.join(argv[-8:])}: {done.stderr.strip()[-300:]}\n")
    return done.stdout


@dataclass
class Launched:
    """By size and by what served: microseconds, and what the cost model says of ours."""

    times: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    model: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))


def read(said: str) -> Launched:
    read = Launched()
    for line in said.splitlines():
        if ours := OURS.match(line):
            name, size, mine, library, model, verdict = ours.groups()
            if verdict == "WRONG":
                raise UserError(f"{name} gave a wrong result at {size} bytes")
            served = "unisono/" + name.split("_", 1)[1]
            read.times[size][served] = float(mine)
            read.times[size][ITSELF] = float(library)
            if ":" not in served:
                read.model[size][served] = float(model)
        elif alone := ALONE.match(line):
            read.times[alone[2]][ITSELF] = float(alone[3])
    return read


class Kept:
    """What was measured, launch by launch: a file that later runs go on from, or only this run's memory."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.launches: dict[Launch, Launched] = {}
        for line in file.read_text().splitlines() if file and file.exists() else []:
            one = json.loads(line)
            self.launches[tuple(one["launch"])] = Launched(one["times"], one.get("model", {}))

    def add(self, launch: Launch, launched: Launched) -> None:
        self.launches[launch] = launched
        if self.file:
            said = {"launch": launch, "times": launched.times}
            if launch[-1] == CHOOSES:
                said["model"] = launched.model
            with self.file.open("a") as file:
                file.write(json.dumps(said) + "\n")

    def of(self, layout: str, collective: str) -> Iterable[tuple[str, Launched]]:
        """By peer."""
        for (where, what, _, peer), launched in self.launches.items():
            if (where, what) == (layout, collective):
                yield peer, launched

    def times(self, layout: str, collective: str) -> Times:
        times: Times = defaultdict(lambda: defaultdict(list))
        for peer, launched in self.of(layout, collective):
            for size, by_what in launched.times.items():
                for served, value in by_what.items():
                    times[int(size)][served, peer].append(value)
        return times

    def choices(self, layout: str, collective: str) -> dict[int, str]:
        """By size, what the cost model took in the last launch of the peer under which it is asked."""
        chosen: dict[int, str] = {}
        for peer, launched in self.of(layout, collective):
            for size, costs in launched.model.items() if peer == CHOOSES else ():
                chosen[int(size)] = min(costs, key=lambda served: costs[served])
        return chosen


def measure(given: argparse.Namespace, layout: str, collective: str, kept: Kept, end: float) -> bool:
    """What is missing of the rounds of a layout and collective; False when the time was over before."""
    nodes, ppn = (int(number) for number in layout.split("x"))
    missing = [
        ((layout, collective, turn, peer), line, mpicc, env)
        for turn in range(given.rounds)
        for under, line, mpicc, env in launches(given, nodes, ppn)
        for peer in ([under, under + BY_ITSELF] if under != WITHOUT_HAN else [under + BY_ITSELF])
        if (layout, collective, turn, peer) not in kept.launches
    ]
    if not missing or time.monotonic() > end:
        return not missing
    with VirtualCluster(nodes, ("1gbit", "20ms")) as cluster:
        for launch, line, mpicc, env in missing:
            if time.monotonic() > end:
                return False
            which = "none" if launch[-1].endswith(BY_ITSELF) else "all"
            argv = [*line, str(built(TRY, mpicc)), collective, which, *(str(size) for size in given.size)]
            env = {**env, "TRY_SECONDS": str(given.seconds), "TRY_PAUSE": REST, "TRY_COSTS": COSTS}
            launched = read(started(cluster, argv, env, given.deadline))
            if launched.times:
                kept.add(launch, launched)
    return True


@dataclass(frozen=True)
class Row:
    layout: str
    collective: str
    size: int
    ours: dict[Who, float]
    """Microseconds, medians of rounds."""
    peers: dict[str, float]
    choice: str | None
    """Of ours, by the cost model."""
    bound: float
    """Microseconds that the busiest link needs at least."""

    @property
    def best(self) -> Who:
        return min(self.ours, key=lambda who: self.ours[who])

    @property
    def rival(self) -> str:
        return min(self.peers, key=lambda peer: self.peers[peer])

    @property
    def ratio(self) -> float:
        return self.peers[self.rival] / self.ours[self.best]

    @property
    def chosen(self) -> float | None:
        """The time of the choice over the best of ours, under the same MPI."""
        here = {served: time for (served, under), time in self.ours.items() if under == CHOOSES}
        return here[self.choice] / min(here.values()) if self.choice in here else None

    @property
    def gains(self) -> dict[str, float]:
        """By MPI: its own time over that of the best of ours over it."""
        over = {peer: [ours for (_, under), ours in self.ours.items() if under == peer] for peer in self.peers}
        return {peer: self.peers[peer] / min(ours) for peer, ours in over.items() if ours}


def rows(kept: Kept, layout: str, collective: str) -> Iterable[Row]:
    nodes, ppn = (int(number) for number in layout.split("x"))
    choices = kept.choices(layout, collective)
    for size, by_who in sorted(kept.times(layout, collective).items()):
        middle = {who: statistics.median(values) for who, values in by_who.items()}
        ours = {who: value for who, value in middle.items() if who[0] != ITSELF}
        peers: dict[str, float] = {}
        for (served, under), value in middle.items():
            if served == ITSELF:
                peer = under.removesuffix(BY_ITSELF)
                peers[peer] = min(value, peers.get(peer, value))
        if ours and peers:
            limit = bound(collective, nodes, ppn, size) * 1e6
            yield Row(layout, collective, size, ours, peers, choices.get(size), limit)


def words(row: Row) -> list[str]:
    served, over = row.best
    ours, size = row.ours[row.best], row.size
    unit = f"{size} B" if size < 1024 else f"{size / 1024:g} KiB" if size < 1 << 20 else f"{size / (1 << 20):g} MiB"
    peers = ", ".join(f"{peer} {value:.0f}" for peer, value in sorted(row.peers.items(), key=lambda item: item[1]))
    name = served.removeprefix("unisono/")
    share = f"{row.bound / ours:.0%}" if size >= 1024 else "-"
    chosen = f"{row.choice.removeprefix('unisono/')} {row.chosen:.2f}" if row.choice and row.chosen else "-"
    return [row.layout, row.collective, unit, name, over, f"{ours:.0f}", peers, f"{row.ratio:.2f}", share, chosen]


def show(console: Console, made: list[Row]) -> None:
    named = ("layout", "collective", "size", "best of ours", "over", "us", "peers, us", "peer / ours", "of the bound")
    table = Table(*named, "model's choice / best")
    for row in made:
        table.add_row(*words(row))
    console.print(table)


def markdown(made: list[Row]) -> str:
    """The table of docs/how-fast-our-collectives-are.md."""
    lines = [
        "| layout | collective | size | ours, us | best other MPI, us | other / ours | limit / ours |",
        "|---" * 7 + "|",
    ]
    for row in made:
        layout, collective, size, name, over, ours, _, ratio, share, _ = words(row)
        peer = f"{row.rival} {row.peers[row.rival]:.0f}"
        lines.append(f"| {layout} | {collective} | {size} | `{name}` over {over} {ours} | {peer} | {ratio} | {share} |")
    return "\n".join(lines)


def mean(ratios: Iterable[float]) -> float | None:
    """Geometric; None of none."""
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(statistics.fmean(logarithms)) if logarithms else None


def gained(made: list[Row]) -> dict[str, dict[str, float | None]]:
    """For each MPI, over the cells: the MPI itself / the best of ours over it."""
    ratios = {peer: [row.gains[peer] for row in made if peer in row.gains] for row in made for peer in row.gains}
    return {peer: {"geometric_mean": mean(some), "least": min(some)} for peer, some in ratios.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description="Our collectives over several nodes against other MPI libraries.")
    parser.add_argument("--layout", action="append", help="NODESxRANKS, may be repeated; 4x2 and 2x4 if not given")
    parser.add_argument("--collective", action="append", choices=COLLECTIVES)
    parser.add_argument("--size", action="append", type=int, metavar="BYTES")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1, help="for each algorithm, size and launch")
    parser.add_argument("--mpirun", type=Path, default=Path(sys.prefix) / "bin" / "mpirun", help="of Open MPI 5")
    parser.add_argument(
        "--mpich", metavar="MPIEXEC", help="of an MPICH with its mpicc beside it, for the installed one"
    )
    parser.add_argument("--intel", metavar="MPIEXEC", help="of an Intel MPI; takes an MPICH too")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="append every launch, and measure only what it lacks")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no launch after so long")
    parser.add_argument("--deadline", type=float, default=120, help="seconds a launch may take")
    parser.add_argument(
        "--markdown", action="store_true", help="print the table of what --keep has, and measure nothing"
    )
    arguments = parser.parse_args()
    arguments.size = arguments.size or list(SIZES)
    console, kept = Console(width=170), Kept(arguments.keep)
    everything: list[Row] = []
    end = time.monotonic() + 60 * arguments.minutes
    complete = True
    try:
        for layout in arguments.layout or ["4x2", "2x4"]:
            for collective in arguments.collective or COLLECTIVES:
                if not arguments.markdown:
                    complete = measure(arguments, layout, collective, kept, end) and complete
                made = list(rows(kept, layout, collective))
                if made and not arguments.markdown:
                    show(console, made)
                everything += made
    except (ClusterError, UserError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if arguments.markdown:
        print(markdown(everything))
        return 0
    large = [row for row in everything if row.size >= LARGE]
    gains = gained(large)
    for peer, gain in gains.items():
        middle, least = gain["geometric_mean"], gain["least"]
        console.print(f"over {peer}, from 16 KiB: {middle:.2f} times as fast as {peer} itself, at least {least:.2f}")
    summary = {
        "complete": complete,
        "geometric_mean": mean(row.ratio for row in everything),
        "from_16_KiB": mean(row.ratio for row in large),
        "least_from_16_KiB": min((row.ratio for row in large), default=None),
        "by_collective": {
            what: mean(row.ratio for row in large if row.collective == what)
            for what in dict.fromkeys(row.collective for row in large)
        },
        "over_itself_from_16_KiB": gains,
        "model_over_best": mean(row.chosen for row in everything if row.chosen),
        "model_within_a_tenth": sum(1 for row in everything if row.chosen and row.chosen <= 1.1),
    }
    print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
