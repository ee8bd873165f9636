"""Nakajima's two communication benchmarks with its own procedure, and ours beside it.

    python benchmarks/microbenchmarks.py                        ten seconds
    python benchmarks/microbenchmarks.py --ranks 8 --mpirun PATH

`allreduce5`: five allreduces of one double an iteration. `halo26`: boxes of a cube exchange 3 x N^2 doubles with up to
26 neighbours, N = 8, 16, 32, 48. The document takes the mean of a call over 5,000 iterations right after one another.
We start every call together and give the distribution: the mean of a loop hides how calls differ, and lets ranks run
apart and hide each other's delays.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from rich.console import Console
from rich.table import Table

from unisono.cmdline.command import command
from unisono.core.vocabulary import DEFAULT
from unisono.inventory.describe import describe
from unisono.library.native import bench_program
from unisono.measure.session import Session

HALOS = (8, 16, 32, 48)
"""N of the document: nodes along the side of a sub-domain's face."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", help="of the MPI to use")
    parser.add_argument("--ranks", type=int, help="as many as cores")
    parser.add_argument("--iterations", type=int, default=5000, help="the document's")
    given = parser.parse_args()
    machine = describe(given.mpirun)
    assert machine.mpi is not None
    ranks = given.ranks or machine.cores
    crowded = ranks > len(machine.cpus)
    line = command(machine, DEFAULT, 1, ranks, [str(bench_program(machine.mpi.mpicc))], oversubscribe=crowded)
    cases = [("allreduce5", "1 double", 8), *(("halo26", f"N = {n}", 3 * n * n * 8) for n in HALOS)]
    table = Table(title=f"us a call, {ranks} ranks, {given.iterations} iterations", title_justify="left")
    for name in ("benchmark", "size", "26 neighbours", "document's mean", "median", "quartiles", "95 %"):
        table.add_column(name, justify="right")
    found: list[dict[str, Any]] = []
    with Session(line.argv, line.env) as session:
        for collective, words, size in cases:
            session.warm_up(collective, [size])
            (timing,) = session.measure(
                collective, size, [0], seconds=1.0, min_reps=100, max_reps=given.iterations, loop=given.iterations
            )
            us = [1e6 * value for value in (timing.loop_mean, timing.median, timing.q1, timing.q3, timing.p95)]
            total = f"{26 * size / 1000:.0f} KB" if collective == "halo26" else ""
            table.add_row(
                collective, words, total, f"{us[0]:.2f}", f"{us[1]:.2f}", f"{us[2]:.2f} to {us[3]:.2f}", f"{us[4]:.2f}"
            )
            found.append(
                {"benchmark": collective, "bytes": size, "loop": timing.loop, "us": us, "of": timing.repetitions}
            )
    Console(width=110).print(table)
    load = [round(value, 1) for value in os.getloadavg()]
    print(
        json.dumps({"ranks": ranks, "mpi": f"{machine.mpi.family} {machine.mpi.version}", "cases": found, "load": load})
    )


if __name__ == "__main__":
    main()
