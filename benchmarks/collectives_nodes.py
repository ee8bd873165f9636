"""Our collectives over several nodes against those of other MPI libraries, on a virtual cluster with shaped links.

    python -m benchmarks.collectives_nodes                     4 nodes x 2 ranks and 2 x 4, about half an hour
    python -m benchmarks.collectives_nodes --layout 4x2 --collective bcast --size 16384 --rounds 1
    python -m benchmarks.collectives_nodes --keep times.jsonl --minutes 4      again and again until nothing is missing
    python -m benchmarks.collectives_nodes --mpich VENV/bin/mpiexec --intel VENV/bin/mpiexec

Links of 1 Gbit/s between namespaces of this machine (tests/cluster). In every round each peer is launched once: Open
MPI as it is (in the same launch, in turn with it, all our algorithms), Open MPI without HAN, MPICH where it is
installed, Intel MPI where it is given (it runs the program that MPICH built). Prints, per size, the best of ours, each
peer, best peer / ours, and the share of the links' bound. Times are of the slowest rank after a barrier, medians over
calls, then over rounds. The last line is JSON.
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
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.cluster.vc import ClusterError, VirtualCluster
from unisono.errors import UserError
from unisono.measure.build import Target, built

TRY = Target(
    "collectives_try",
    "collectives/collectives_try",
    ("collectives", "common", "tests/collectives_try.c"),
    "the trial of our collectives",
)
COLLECTIVES = ("bcast", "reduce", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv")
SIZES = (8, 1024, 16384, 65536, 262144, 1048576)
BYTE = 8e-9
"""Seconds, on a link of 1 Gbit/s."""
REST = "1000"
"""Microseconds before each call: after 0.5 ms without traffic a link lets 64 KiB through at once, by which whatever
comes after an algorithm that sends little would gain."""
QUIET = {"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "10"}
"""MPICH's ranks that wait let others work; Open MPI's do by the cluster's own environment."""
OURS = re.compile(r"^([\w:]+) +(\d+) B  ours +([\d.]+) us  library +([\d.]+) us .* (right|WRONG)$")
ALONE = re.compile(r"^(\w+) +(\d+) B  library +([\d.]+) us$")

Times = dict[int, dict[str, list[float]]]
"""Size -> who -> microseconds of each round."""
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
    line += ["-x", "TRY_SECONDS", "-x", "TRY_PAUSE"]
    mpicc = str(mpirun.with_name("mpicc"))
    yield "Open MPI", line, mpicc, {}
    yield "without HAN", [*line, "--mca", "coll", "^han"], mpicc, {}
    agent = str(Path("tests/cluster/agent.sh").resolve())
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


def read(said: str, peer: str, times: Times) -> None:
    seen: dict[int, float] = {}
    for line in said.splitlines():
        if ours := OURS.match(line):
            name, size, mine, library, verdict = ours.groups()
            if verdict == "WRONG":
                raise UserError(f"{name} gave a wrong result at {size} bytes")
            times[int(size)]["unisono/" + name.split("_", 1)[1]].append(float(mine))
            seen[int(size)] = float(library)
        elif alone := ALONE.match(line):
            seen[int(alone[2])] = float(alone[3])
    for size, library in seen.items():
        times[size][peer].append(library)


class Kept:
    """What was measured, launch by launch: a file that later runs go on from, or only this run's memory."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.launches: dict[Launch, dict[str, dict[str, float]]] = {}
        for line in file.read_text().splitlines() if file and file.exists() else []:
            one = json.loads(line)
            self.launches[tuple(one["launch"])] = one["times"]

    def add(self, launch: Launch, times: Times) -> None:
        self.launches[launch] = {
            str(size): {who: values[-1] for who, values in by_who.items()} for size, by_who in times.items()
        }
        if self.file:
            with self.file.open("a") as file:
                file.write(json.dumps({"launch": launch, "times": self.launches[launch]}) + "\n")

    def times(self, layout: str, collective: str) -> Times:
        times: Times = defaultdict(lambda: defaultdict(list))
        for (of, what, _, _), by_size in self.launches.items():
            for size, by_who in by_size.items() if (of, what) == (layout, collective) else ():
                for who, value in by_who.items():
                    times[int(size)][who].append(value)
        return times


def measure(given: argparse.Namespace, layout: str, collective: str, kept: Kept, end: float) -> bool:
    """What is missing of the rounds of a layout and collective; False when the time was over before."""
    nodes, ppn = (int(number) for number in layout.split("x"))
    missing = [
        ((layout, collective, turn, peer), line, mpicc, env)
        for turn in range(given.rounds)
        for peer, line, mpicc, env in launches(given, nodes, ppn)
        if (layout, collective, turn, peer) not in kept.launches
    ]
    if not missing:
        return True
    with VirtualCluster(nodes, ("1gbit", "20ms")) as cluster:
        for launch, line, mpicc, env in missing:
            if time.monotonic() > end:
                return False
            times: Times = defaultdict(lambda: defaultdict(list))
            peer = launch[-1]
            which = "all" if peer == "Open MPI" else "none"
            argv = [*line, str(built(TRY, mpicc)), collective, which, *(str(size) for size in given.size)]
            said = started(cluster, argv, {**env, "TRY_SECONDS": str(given.seconds), "TRY_PAUSE": REST}, given.deadline)
            read(said, peer, times)
            if times:
                kept.add(launch, times)
    return True


def rows(times: Times, collective: str, nodes: int, ppn: int) -> list[dict[str, object]]:
    made: list[dict[str, object]] = []
    for size, by_who in sorted(times.items()):
        middle = {who: statistics.median(values) for who, values in by_who.items()}
        peers = {who: value for who, value in middle.items() if not who.startswith("unisono/")}
        ours = {who: value for who, value in middle.items() if who.startswith("unisono/")}
        if not peers or not ours:
            continue
        best = min(ours, key=lambda who: ours[who])
        rival = min(peers, key=lambda who: peers[who])
        made.append(
            {
                "layout": f"{nodes}x{ppn}",
                "collective": collective,
                "size": size,
                "best": best,
                "ours_us": ours[best],
                "peers_us": peers,
                "ratio": peers[rival] / ours[best],
                "bound_us": bound(collective, nodes, ppn, size) * 1e6,
                "all_us": ours,
            }
        )
    return made


def show(console: Console, made: list[dict[str, object]]) -> None:
    table = Table("layout", "collective", "bytes", "best of ours", "us", "peers, us", "ratio", "bound/ours")
    for row in made:
        peers = row["peers_us"]
        assert isinstance(peers, dict)
        said = ", ".join(f"{who} {value:.0f}" for who, value in peers.items())
        ours, limit = float(str(row["ours_us"])), float(str(row["bound_us"]))
        words = [str(row[name]) for name in ("layout", "collective", "size", "best")]
        table.add_row(*words, f"{ours:.0f}", said, f"{float(str(row['ratio'])):.2f}", f"{limit / ours:.0%}")
    console.print(table)


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
    arguments = parser.parse_args()
    arguments.size = arguments.size or list(SIZES)
    console, everything, kept = Console(width=150), [], Kept(arguments.keep)
    end = time.monotonic() + 60 * arguments.minutes
    complete = True
    try:
        for layout in arguments.layout or ["4x2", "2x4"]:
            nodes, ppn = (int(number) for number in layout.split("x"))
            for collective in arguments.collective or COLLECTIVES:
                complete = measure(arguments, layout, collective, kept, end) and complete
                made = rows(kept.times(layout, collective), collective, nodes, ppn)
                if made:
                    show(console, made)
                everything += made
    except (ClusterError, UserError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    ratios = {
        large: [float(str(row["ratio"])) for row in everything if not large or int(str(row["size"])) >= 16384]
        for large in (False, True)
    }
    means = {large: math.exp(statistics.fmean(map(math.log, some))) if some else None for large, some in ratios.items()}
    print(
        json.dumps(
            {
                "complete": complete,
                "geometric_mean": means[False],
                "from_16_KiB": means[True],
                "least_from_16_KiB": min(ratios[True], default=None),
                "rows": everything,
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
