"""What our collectives would put on a machine's global links in the allocations that real jobs had there.

    python -m benchmarks.allocations leonardo_allocations.tar.gz leonardo_map.txt
    python -m benchmarks.allocations ALLOCATIONS MAP --ppn 32 --bytes 1M      other ranks a node, other sizes
    python -m benchmarks.allocations ALLOCATIONS MAP --shuffle 1              ranks on the nodes in a drawn order
    python -m benchmarks.allocations ALLOCATIONS MAP --picture FILE.svg       and a chart by size of job

ALLOCATIONS is an archive with a file of host names for each job, MAP says which cell of the dragonfly each node is in:
both as HLC-Lab/pico has them (tracer/, MIT). Builds `native/tests/allocations.c`, which calls the library's own
counting and choice, and compares it with binomial trees and butterflies, rings and Bine. Status 1 where the choice puts
more between cells than the best of these single algorithms in more than 5 % of the jobs.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import shutil
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from unisono.core.errors import UserError
from unisono.core.sizes import format_size, parse_size
from unisono.inventory.describe import describe
from unisono.library.native import Target, built
from unisono.simulate.picture import Chart, draw

PROGRAM = Target(
    "allocations",
    "dispatch/allocations",
    ("agreement", "collectives", "common", "dispatch", "include", "tests/allocations.c"),
    "the choice in given allocations",
)
CLASSES = ((2, 7), (8, 15), (16, 63), (64, 1 << 20))
"""Sizes of jobs, in nodes."""
DRAWN = (*((1 << power, (2 << power) - 1) for power in range(1, 7)), (128, 1 << 20))
"""Sizes of jobs in the chart: a point for each doubling."""
MOST_WORSE = 0.05
_SAME = 1e-6
"""Numbers are printed with nine digits."""


@dataclass(frozen=True, slots=True)
class Row:
    """One job, one collective, one message size: bytes between groups."""

    job: int
    collective: str
    bytes: int
    choice: str
    ours: float
    rivals: dict[str, float]


def cells(text: str) -> dict[int, int]:
    """Node number -> cell."""
    found = re.findall(r"^NODE\s+(\d+)\s.*?\bCELL\s+(\d+)", text, re.MULTILINE)
    if not found:
        raise UserError("the map has no line like `NODE 0001 RACK 1 CELL 1`")
    return {int(node): int(cell) for node, cell in found}


def jobs(archive: Path, cell_of: dict[int, int]) -> list[list[int]]:
    """The cell of each node of each job, in order of its file; nodes that are not in the map are left out."""
    found = []
    try:
        with tarfile.open(archive) as opened:
            for member in sorted(opened.getmembers(), key=lambda member: member.name):
                file = opened.extractfile(member) if member.isfile() else None
                names = file.read().decode("latin-1").split() if file is not None else []
                numbers = [int(match[1]) for name in names if (match := re.fullmatch(r"\D*(\d+)", name))]
                found.append([cell_of[number] for number in numbers if number in cell_of])
    except (OSError, tarfile.TarError) as error:
        raise UserError(f"{archive}: {error}") from None
    return [job for job in found if len(job) > 1]


def counted(program: Path, groups: Iterable[Sequence[int]], ppn: int) -> list[Row]:
    """What the library says of them: nothing of a job whose nodes are all in one group."""
    text = "".join(" ".join(map(str, job)) + "\n" for job in groups)
    argv = [str(program), str(ppn)]
    done = subprocess.run(argv, input=text, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise UserError(f"{' '.join(argv)} ended with status {done.returncode}: {done.stderr.strip()[-200:]}")
    rows = []
    for line in done.stdout.splitlines():
        job, collective, size, choice, _seconds, ours, *rest = line.split("\t")
        rivals = {name: float(total) for name, total in zip(rest[::2], rest[1::2], strict=True)}
        rows.append(Row(int(job), collective, int(size), choice, float(ours), rivals))
    return rows


def mean_ratio(rows: Sequence[Row], rival: str) -> float:
    """Ours over a rival's, geometric mean; NaN where none of its jobs has bytes of either."""
    ratios = [row.ours / row.rivals[rival] for row in rows if row.ours > 0 and row.rivals[rival] > 0]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def best_single(rows: Sequence[Row]) -> str:
    """The rival that would put the least between groups, were it used in all of these jobs (geometric mean)."""
    return max(rows[0].rivals, key=lambda rival: mean_ratio(rows, rival))


def worse(rows: Sequence[Row], rival: str | None = None) -> float:
    """The share of jobs in which ours puts more between groups than a rival; None: than any of them."""
    least = (row.rivals[rival] if rival else min(row.rivals.values()) for row in rows)
    return sum(row.ours > one * (1 + _SAME) for row, one in zip(rows, least, strict=True)) / len(rows)


def _by_size_of_job(console: Console, rows: Sequence[Row], nodes: Sequence[int], size: int) -> bool:
    good = True
    for collective in dict.fromkeys(row.collective for row in rows):
        of_collective = [row for row in rows if row.collective == collective and row.bytes == size]
        rivals = list(of_collective[0].rivals)
        table = Table(
            "nodes",
            "jobs",
            *rivals,
            "best single",
            "worse than it",
            "than any",
            "chosen",
            title=f"{collective}, {format_size(size)}",
        )
        for low, high in (*CLASSES, (2, 1 << 20)):
            some = [row for row in of_collective if low <= nodes[row.job] <= high]
            if not some:
                continue
            single = best_single(some)
            ratios = [f"{mean_ratio(some, rival):.2f}" for rival in rivals]
            chosen = Counter(row.choice.removeprefix(f"{collective}_") for row in some).most_common(3)
            everything = (low, high) == (2, 1 << 20)
            name = "all" if everything else f"{low} to {high}" if high < 1 << 20 else f"{low} and more"
            shares = [f"{100 * worse(some, single):.1f} %", f"{100 * worse(some):.1f} %"]
            table.add_row(
                name, f"{len(some):,}", *ratios, single, *shares, ", ".join(f"{one} {count}" for one, count in chosen)
            )
            good = good and (not everything or worse(some, single) <= MOST_WORSE)
        console.print(table)
    return good


def charts(rows: Sequence[Row], nodes: Sequence[int], size: int) -> list[Chart]:
    """Bytes between groups over those of each rival, by size of job."""
    drawn = []
    for collective in dict.fromkeys(row.collective for row in rows):
        some = [row for row in rows if row.collective == collective and row.bytes == size]
        if collective != "reduce":  # the same numbers as a bcast's, the other way
            curves: dict[str, dict[int, float]] = {rival: {} for rival in some[0].rivals}
            for low, high in DRAWN:
                of_class = [row for row in some if low <= nodes[row.job] <= high]
                for rival, curve in curves.items():
                    if of_class:
                        curve[low] = mean_ratio(of_class, rival)
            title = f"{collective}{' and reduce' if collective == 'bcast' else ''}, {format_size(size)}"
            note = "bytes between cells: ours over the other algorithm's; across: nodes of the job"
            named = {_drawn_name(rival, collective): curve for rival, curve in curves.items()}
            named = dict(sorted(named.items(), key=lambda pair: ("binomial" not in pair[0], pair[0])))
            drawn.append(Chart(title, note, named, unit="", label=_job_class))
    return drawn


def _drawn_name(rival: str, collective: str) -> str:
    """A binomial tree or butterfly without more words is the other of the two orders."""
    other = "near first" if collective == "allgather" else "far first"
    return f"over binomial, {other}" if rival == "binomial" else f"over {rival}"


def _job_class(low: int) -> str:
    high = dict(DRAWN)[low]
    return f"{low} to {high}" if high < 1 << 20 else f"{low}+"


def _by_message(console: Console, rows: Sequence[Row]) -> None:
    collectives = list(dict.fromkeys(row.collective for row in rows))
    table = Table(
        "bytes",
        *collectives,
        title="share of jobs in which the choice puts more between groups than the best single algorithm",
    )
    by_size: dict[int, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_size[row.bytes][row.collective].append(row)
    for size, groups in sorted(by_size.items()):
        shares = (worse(groups[collective], best_single(groups[collective])) for collective in collectives)
        table.add_row(format_size(size), *(f"{100 * share:.1f} %" for share in shares))
    console.print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("allocations", type=Path)
    parser.add_argument("map", type=Path)
    parser.add_argument("--ppn", type=int, default=4, help="ranks a node (default: 4, one for each GPU of Leonardo's)")
    parser.add_argument(
        "--bytes", default="16M", help="message of the first tables: the vector, or all that is gathered"
    )
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="ranks over the job's nodes in a drawn order")
    parser.add_argument("--picture", type=Path, metavar="FILE.svg", help="draw the first tables by size of job")
    parser.add_argument("--mpicc", help="the MPI's compiler (default: of the first MPI found)")
    options = parser.parse_args()
    console = Console(highlight=False, width=140)
    try:
        mpi = describe().mpi
        mpicc = options.mpicc or (mpi.mpicc if mpi else None)
        if mpicc is None or shutil.which(mpicc) is None:
            raise UserError("no mpicc beside this machine's mpirun: name one with --mpicc")
        try:
            cell_of = cells(options.map.read_text(encoding="latin-1"))
        except OSError as error:
            raise UserError(f"{options.map}: {error.strerror}") from None
        found = jobs(options.allocations, cell_of)
        if options.shuffle is not None:
            order = random.Random(options.shuffle)
            found = [order.sample(job, len(job)) for job in found]
        rows = counted(built(PROGRAM, mpicc), found, options.ppn)
        size = parse_size(options.bytes)
        if size not in {row.bytes for row in rows}:
            known = ", ".join(format_size(one) for one in sorted({row.bytes for row in rows}))
            raise UserError(f"--bytes {options.bytes}: one of {known or 'none: no job is in several cells'}")
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    several = len({row.job for row in rows})
    console.print(
        f"{len(found):,} jobs of several nodes, {several:,} of them in several groups; {options.ppn} ranks a node"
    )
    good = _by_size_of_job(console, rows, [len(job) for job in found], size)
    _by_message(console, rows)
    if options.picture:
        options.picture.write_text(draw(charts(rows, [len(job) for job in found], size)))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
