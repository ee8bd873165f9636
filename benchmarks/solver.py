"""How near unisono-solver is to what the memory can deliver, and whether its cost grows with the unknowns alone.

    python benchmarks/solver.py                       about five minutes
    python benchmarks/solver.py --size 96 --launches 5 --mpirun PATH

The method streams the matrix from memory: 0.223 operations a byte with all 26 neighbours, so GFLOPS are at most 0.223
x GB/s. Each launch measures a triad (24 bytes an element, arrays of 256 MB in all) before and after it solves, with the
same processes and threads; the fraction is the byte model's GB/s over the mean of the two. Layouts take turns. Then
set-up (mesh, ordering, assembly) and an iteration are timed for growing cubes on one core: ns an unknown must not grow.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from typing import Any

from rich.console import Console
from rich.table import Table

from unisono.errors import UserError
from unisono.hybrid.layouts import Layout
from unisono.hybrid.lines import line
from unisono.hybrid.solver import answer_of, solver_program, solver_words
from unisono.hybrid.variants import Variant
from unisono.launch.process import run
from unisono.machine.describe import describe
from unisono.machine.model import Machine
from unisono.model import DEFAULT

TARGET = 0.9
"""Of the bandwidth bound."""


def solve(machine: Machine, program: str, layout: Layout, size: int, iterations: int) -> dict[str, Any]:
    words = solver_words(program, str(size), layout.threads, "single", ["--iterations", str(iterations)])
    made = line(machine, Variant(1, layout, "none", "single", DEFAULT), words)
    done = run(made.argv, made.env, deadline=600.0)
    if done.exit_code not in (0, 1):  # 1: the iterations ended it, as is meant
        raise UserError(f"the solver did not run: {done.stderr.strip()[-300:]}")
    return answer_of(done.stdout)


def fraction(answer: dict[str, Any]) -> float:
    triad = (answer["triad_before"] + answer["triad_after"]) / 2
    return float(answer["gbytes_per_second"] / triad)


def spread(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", help="of the MPI to use")
    parser.add_argument("--size", type=int, default=64, help="nodes in each direction")
    parser.add_argument("--launches", type=int, default=5, help="of every layout")
    parser.add_argument("--iterations", type=int, default=100)
    given = parser.parse_args()
    machine = describe(given.mpirun)
    assert machine.mpi is not None
    program = str(solver_program(machine.mpi.mpicc))
    cores = machine.cores
    layouts = dict.fromkeys([Layout(1, 1), Layout(cores, 1), Layout(1, cores)])
    answers: dict[Layout, list[dict[str, Any]]] = {layout: [] for layout in layouts}
    for _ in range(given.launches):
        for layout in layouts:
            answers[layout].append(solve(machine, program, layout, given.size, given.iterations))
    fractions = {layout: spread([fraction(a) for a in found]) for layout, found in answers.items()}
    gflops = {layout: spread([a["gflops"] for a in found]) for layout, found in answers.items()}
    sizes = sorted({given.size * part // 4 for part in (2, 3, 4, 5)})
    growth = {size: [solve(machine, program, Layout(1, 1), size, 20) for _ in range(3)] for size in sizes}
    setup = {n: spread([1e9 * a["setup_seconds"] / a["unknowns"] for a in found]) for n, found in growth.items()}
    step = {n: spread([1e9 * a["seconds"] / 20 / a["unknowns"] for a in found]) for n, found in growth.items()}
    console = Console(width=110)
    table = Table(title=f"{given.size}^3 nodes, {given.launches} launches each, in turns", title_justify="left")
    for name in ("processes x threads", "GFLOPS", "share of the triad (least to most)", "target"):
        table.add_column(name, justify="right")
    for layout in layouts:
        f = fractions[layout]
        share = f"{f['median']:.0%} ({f['least']:.0%} to {f['most']:.0%})"
        name = f"{layout.processes} x {layout.threads}"
        table.add_row(name, f"{gflops[layout]['median']:.2f}", share, f"{TARGET:.0%}")
    console.print(table)
    table = Table(title="Cost of an unknown, ns, one thread (median of 3 launches)", title_justify="left")
    for name in ("nodes", "set-up", "iteration"):
        table.add_column(name, justify="right")
    for n in sizes:
        table.add_row(f"{n}^3", f"{setup[n]['median']:.0f}", f"{step[n]['median']:.1f}")
    console.print(table)
    conditions = {
        "machine": f"{machine.cpu_model}, {machine.cores} cores",
        "mpi": f"{machine.mpi.family} {machine.mpi.version}",
        "size": given.size,
        "launches": given.launches,
        "oversubscribed": False,
        "load": [round(value, 1) for value in os.getloadavg()],
    }
    document = {
        "fraction": {layout.name: value for layout, value in fractions.items()},
        "gflops": {layout.name: value for layout, value in gflops.items()},
        "setup_ns": setup,
        "iteration_ns": step,
        "target_met": all(value["median"] >= TARGET for value in fractions.values()),
        "conditions": conditions,
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
