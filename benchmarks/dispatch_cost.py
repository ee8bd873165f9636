"""What dispatch costs a call that it routes, on two ranks of one node.

    python benchmarks/dispatch_cost.py [--launches 3]

Prints nanoseconds: choosing alone, from the arguments to the choice, by message size, with a table of twelve ranges,
for a call that is the MPI library's and for one of ours, and for a call of a collective that no rule names; and an
allreduce of 8 bytes straight from the library against the same routed to it (blocks of both take turns). The last line
is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unisono.inventory.describe import describe
from unisono.library.native import Target, built

COST = Target(
    "dispatch_cost",
    "dispatch/dispatch_cost",
    ("agreement", "collectives", "common", "dispatch", "include", "tests/dispatch_cost.c"),
    "the cost of dispatch",
)
BOUNDS = [15, 63, 255, 1023, 4095, 16383, 65535, 262143, 1048575, 4194303, 16777215]


def rules() -> str:
    """Twelve ranges a collective: those of the sizes asked for are the library's for allreduce, ours for bcast."""
    lines = ["unisono-rules 1"]
    for i, (begin, end) in enumerate(zip([0, *(bound + 1 for bound in BOUNDS)], [*BOUNDS, "max"], strict=True)):
        asked = i in (0, 3, 5, 7, 9)
        lines.append(f"allreduce 1 2 {begin} {end} {'mpi' if asked else 'unisono/cells'}")
        lines.append(f"bcast 1 2 {begin} {end} {'unisono/cells' if asked else 'mpi'}")
    return "\n".join(lines) + "\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--launches", type=int, default=3)
    options.add_argument("--mpirun")
    given = options.parse_args()
    machine = describe(given.mpirun)
    if machine.mpi is None:
        raise SystemExit("no MPI was found")
    program = built(COST, machine.mpi.mpicc)
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules"
        path.write_text(rules())
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        for _ in range(given.launches):
            done = subprocess.run(
                [machine.mpi.mpirun, "-n", "2", str(program)],
                env={**os.environ, **root, "UNISONO_RULES": str(path)},
                capture_output=True,
                text=True,
                timeout=120,
                check=True,
            )
            runs.append(json.loads(done.stdout.splitlines()[-1]))
    report(machine.mpi.version, runs)


def report(version: str, runs: list[dict[str, Any]]) -> None:
    def middle(pick: Callable[[dict[str, Any]], float]) -> float:
        return round(statistics.median(pick(run) for run in runs), 1)

    sizes = list(runs[0]["choosing"])
    print(f"choosing, ns ({len(runs)} launches)    MPI's      ours")
    choosing: dict[str, list[float]] = {}
    for size in sizes:
        pairs = [run["choosing"][size] for run in runs]
        choosing[size] = [round(statistics.median(pair[k] for pair in pairs), 1) for k in (0, 1)]
        print(f"{size:>20} B  {choosing[size][0]:>12} {choosing[size][1]:>9}")
    left = middle(lambda run: run["left"])
    print(f"{'no rule':>22}  {left:>12}")
    mpi, dispatched = middle(lambda run: run["mpi"]), middle(lambda run: run["dispatched"])
    added = middle(lambda run: run["dispatched"] - run["mpi"])
    print(f"allreduce of 8 B, ns: the library {mpi}, routed to it {dispatched}, added {added}")
    figures = {"choosing_ns": choosing, "left_ns": left, "mpi_ns": mpi, "dispatched_ns": dispatched, "added_ns": added}
    print(json.dumps(figures | {"mpi": version, "ranks": 2, "launches": len(runs), "machine": platform.machine()}))


if __name__ == "__main__":
    main()
