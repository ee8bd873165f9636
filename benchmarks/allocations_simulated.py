"""Two trees over groups of nodes first, and over nodes alone, on simulated machines in allocations that real jobs had.

    python benchmarks/allocations_simulated.py --keep FILE.jsonl ALLOCATIONS MAP     simulates what the file has not yet
    python benchmarks/allocations_simulated.py --keep FILE.jsonl                     prints the table alone

ALLOCATIONS and MAP as for `benchmarks.allocations`. Jobs are drawn by their number of nodes; each cell in which a job
has nodes is a group of a simulated dragonfly, in which its nodes are drawn. A job has the machine for itself.
`benchmarks/data/allocations-simulated.jsonl` is what docs/chosen-for-this-allocation.md has.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean
from typing import TypedDict

from algorithms_for_scale import START
from allocations import cells, jobs

from unisono.core.errors import LaunchError, UserError
from unisono.core.sizes import format_size
from unisono.simulate.files import platform as read_platform
from unisono.simulate.platforms import Platform
from unisono.simulate.programs import simulator
from unisono.simulate.run import Run, output_of, read

MACHINES = ("dragonfly", "dragonfly-plus")
ALGORITHMS = {
    "bcast": ("two_trees", "near_trees", "chain", "leader", "binary"),
    "reduce": ("two_trees", "near_trees", "chain", "leader"),
}
SIZES = (8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20)
DRAWN = (((8, 15), 3), ((16, 31), 4), ((32, 63), 4), ((64, 127), 4), ((128, 256), 2))
"""Of jobs of so many nodes, how many."""
GROUPS_MOST = 8
"""Of the dragonfly: SimGrid 3.32 ends where there are more than the machine's shape has."""


class Row(TypedDict):
    """Times in microseconds, by algorithm and message size."""

    machine: str
    nodes: int
    groups: int
    job: int
    collective: str
    times: dict[str, dict[str, float]]


def drawn(found: Sequence[Sequence[int]]) -> Iterator[tuple[int, Sequence[int]]]:
    """Numbers and cells of some jobs that are in several cells."""
    draw = random.Random(7)
    several = [job for job in found if len(set(job)) > 1]
    for (low, high), count in DRAWN:
        yield from draw.sample([(i, job) for i, job in enumerate(several) if low <= len(job) <= high], count)


def _group_size(platform: Platform) -> int:
    if platform.kind == "dragonfly":
        _groups, rows, routers, hosts = platform.shape
        return rows * routers * hosts
    return platform.leaf * platform.pod


def simulated(machine: str, job: Sequence[int], collective: str, deadline: float) -> dict[str, dict[str, float]]:
    """Microseconds by size and algorithm; the library is told the groups."""
    size = _group_size(read_platform(machine))
    number = {cell: i for i, cell in enumerate(sorted(set(job)))}
    platform = replace(read_platform(machine).sized(size * max(2, len(number))), start=START)
    draw = random.Random(1)
    free = {cell: draw.sample(range(size), size) for cell in number}
    members: dict[int, list[int]] = defaultdict(list)
    hosts = []
    for rank, cell in enumerate(job):
        hosts.append(f"n{number[cell] * size + free[cell].pop()}\n")
        members[cell].append(rank)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        platform.write(folder, 1)
        (folder / "hosts").write_text("".join(hosts))
        lines = (f"SwitchName=c{cell} Nodes=%[{','.join(map(str, ranks))}]\n" for cell, ranks in members.items())
        (folder / "groups").write_text("".join(lines))
        argv = Run(platform, 1, collective, ALGORITHMS[collective], SIZES, free_copies=True).argv(folder)
        argv[argv.index("-np") + 1] = str(len(job))
        at = argv.index("time")
        env = {key: value for key, value in os.environ.items() if not key.startswith("UNISONO_")}
        env["UNISONO_TOPOLOGY"] = str(folder / "groups")
        results = read(output_of([*argv[:at], str(simulator()), *argv[at:], *map(str, SIZES)], env, folder, deadline))
    times: dict[str, dict[str, float]] = {}
    for result in results:
        if isinstance(result.outcome, float):
            times.setdefault(str(result.size), {})[result.algorithm] = round(result.outcome * 1e6, 3)
    return times


def more(rows: list[Row], found: Sequence[Sequence[int]], deadline: float) -> Iterator[Row]:
    """What is drawn and not among these rows."""
    known = {(row["machine"], row["job"], row["collective"]) for row in rows}
    for number, job in drawn(found):
        for machine in MACHINES:
            groups = len(set(job))
            fullest = max(list(job).count(cell) for cell in set(job))
            too_many = machine == "dragonfly" and groups > GROUPS_MOST
            if too_many or fullest > _group_size(read_platform(machine)):
                continue
            for collective in ALGORITHMS:
                if (machine, number, collective) not in known:
                    try:
                        times = simulated(machine, job, collective, deadline)
                    except LaunchError as error:
                        print(f"  {machine}, {len(job)} nodes, {collective}: {error.reason}", file=sys.stderr)
                        continue
                    yield Row(
                        machine=machine,
                        nodes=len(job),
                        groups=groups,
                        job=number,
                        collective=collective,
                        times=times,
                    )


def markdown(rows: Sequence[Row]) -> str:
    """Time of `near_trees` over others: geometric mean, least and most."""
    lines = [
        f"| | jobs | {' | '.join(map(format_size, SIZES))} |",
        "|---" * (2 + len(SIZES)) + "|",
    ]
    for collective in ALGORITHMS:
        for machine in MACHINES:
            some = [row for row in rows if (row["machine"], row["collective"]) == (machine, collective)]
            for rival, over in (("two_trees", "over `two_trees`"), ("", "over the best other")):
                texts = []
                for size in map(str, SIZES):
                    ratios = []
                    for times in (row["times"].get(size, {}) for row in some):
                        others = [time for name, time in times.items() if name not in ("near_trees", "two_trees")]
                        if len(times) == len(ALGORITHMS[collective]):
                            ratios.append(times["near_trees"] / (times[rival] if rival else min(others)))
                    mean = geometric_mean(ratios) if ratios else 0
                    texts.append(f"{mean:.2f} ({min(ratios):.2f} to {max(ratios):.2f})" if ratios else "")
                lines.append(f"| {collective}, {machine}, {over} | {len(some)} | {' | '.join(texts)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("allocations", type=Path, nargs="?")
    parser.add_argument("map", type=Path, nargs="?")
    parser.add_argument("--keep", type=Path, required=True, metavar="FILE.jsonl")
    parser.add_argument("--deadline", type=float, default=200.0, metavar="S", help="for each simulation")
    given = parser.parse_args()
    try:
        if not given.keep.exists() and given.map is None:
            raise UserError(f"{given.keep}: no such file; with an archive of allocations and a map they are simulated")
        rows: list[Row] = []
        if given.keep.exists():
            rows += (json.loads(line) for line in given.keep.read_text().splitlines())
        if given.map is not None:
            found = jobs(given.allocations, cells(given.map.read_text(encoding="latin-1")))
            for row in more(rows, found, given.deadline):
                rows.append(row)
                with given.keep.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    except ValueError as error:
        print(f"{given.keep}: {error}", file=sys.stderr)
        return 2
    except (UserError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(markdown(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
