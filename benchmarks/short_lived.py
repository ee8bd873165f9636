"""What communicators that live for a few collectives cost with the library, on two ranks of one node.

    python benchmarks/short_lived.py [--launches 3] [--rounds 100] [--mpirun PATH]

Copies of MPI_COMM_WORLD, whose ranks have a private communicator already, and communicators of the same ranks the other
way round, which have none. Each makes 1 to 800 allreduces of 4 B and bcasts of 4 KiB in turn; one process has both, by
the MPI library (PMPI) and with libunisono before it (MPI), in turn. Copies on which all calls are nonblocking make 1 to
16,000, each with its wait, or one persistent allreduce that is started as often ("persistent": copies, "started": the
other way round): as the library serves these at PMPI, too, launches with it and without it take turns. Prints
microseconds of a communicator, from making it to freeing it, medians of the slowest rank, and the ratio: the median
over rounds where both were measured one after the other, as MPICH 5 takes now 1.4 and now 3.5 us for the same call, so
that medians of few rounds may be of different ones. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from unisono.cmdline.command import command
from unisono.cmdline.preload import launcher_of, with_variables
from unisono.core.vocabulary import DEFAULT
from unisono.inventory.describe import describe
from unisono.launch.process import run
from unisono.library.recorder import recorder

SOURCE = Path(__file__).with_suffix(".c")
TARGET = 1.1
"""With the library over without it."""
FIELDS = 4
APART = ("nonblocking", "persistent", "started")
"""Kinds that are compared between launches."""

Pairs = dict[tuple[str, int], list[tuple[float, float]]]
"""(kind, collectives) -> microseconds (without, with) of every round."""


def measured(text: str, pairs: Pairs) -> None:
    """Adds what the program printed."""
    for words in (line.split() for line in text.splitlines()):
        if len(words) == FIELDS:
            pairs[words[0], int(words[1])].append((float(words[2]), float(words[3])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", help="of the MPI to use")
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=100, help="in a launch")
    given = parser.parse_args()
    machine = describe(given.mpirun)
    if machine.mpi is None or machine.mpi.mpicc is None:
        raise SystemExit("no MPI with an mpicc was found")
    pairs: Pairs = defaultdict(list)
    alone: dict[tuple[str, int], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "short_lived"
        subprocess.run([machine.mpi.mpicc, "-O2", str(SOURCE), "-o", str(program)], timeout=120, check=True)
        line = command(machine, DEFAULT, 1, 2, [str(program), str(given.rounds)])
        library, variables = recorder(machine.mpi.mpicc), {"UNISONO_COLLECTIVES": "on"}
        added = with_variables(line.argv, launcher_of(line.argv), library, variables, {})
        for _ in range(given.launches):
            done = run(added.argv, {**line.env, **added.env}, deadline=300.0)
            if done.exit_code:
                raise SystemExit(f"the program did not run: {done.stderr.strip()[-300:]}")
            measured(done.stdout, pairs)
            plain: Pairs = defaultdict(list)
            measured(run(line.argv, line.env, deadline=300.0).stdout, plain)
            for key in [key for key in pairs if key[0] in APART]:
                alone[key] += [pair[1] for pair in plain[key]]
    rows, met = [], True
    print(f"{'kind':>11} {'collectives':>12} {'without, us':>12} {'with, us':>10} {'ratio':>6}")
    for (kind, collectives), found in sorted(pairs.items()):
        without, ours = (statistics.median(pair[i] for pair in found) for i in (0, 1))
        ratio = statistics.median(pair[1] / pair[0] for pair in found)
        if kind in APART:
            without = statistics.median(alone[kind, collectives])
            ratio = ours / without
        rows.append({"kind": kind, "collectives": collectives, "without_us": without, "with_us": ours, "ratio": ratio})
        met = met and ratio <= TARGET
        print(f"{kind:>11} {collectives:>12} {without:>12.1f} {ours:>10.1f} {ratio:>6.2f}")
    conditions = {"mpi": f"{machine.mpi.family} {machine.mpi.version}", "launches": given.launches,
                  "rounds": given.rounds, "load": [round(value, 1) for value in os.getloadavg()]}  # fmt: skip
    print(json.dumps({"rows": rows, "target": TARGET, "met": met, "conditions": conditions}))


if __name__ == "__main__":
    main()
