"""How near unisono-solver is to what the memory can deliver, whether its cost grows with the unknowns alone, and PETSc.

    python benchmarks/solver.py                       all three, about four minutes
    python benchmarks/solver.py --only bandwidth --size 96 --launches 5 --mpirun PATH

**bandwidth**: the method streams the matrix from memory: 0.223 operations a byte with all 26 neighbours, so GFLOPS are
at most 0.223 x GB/s. Each launch measures a triad (24 bytes an element, arrays of 256 MB in all) before and after it
solves, with the same processes and threads, and beside every few iterations, outside their time. The share is the byte
model's GB/s over the triad's: of the quickest iteration over the best triad, the best of each; of the whole solution
over the triads beside its iterations, both as the machine was in those very seconds; and of the whole solution over the
best triads, which on a machine with neighbours also has what they took. Reading alone is a bound of its own: a triad
also writes, and what it writes is fetched before, uncounted. It is read with each of the solver's hints in turns, and
the quickest counts. Layouts take turns, and with each what it is compared
with: `--against "--kernels avx2 --prefetch nta:4608"` is how the solver asked for memory before it measured that.

**growth**: set-up (mesh, ordering, assembly) and an iteration for growing cubes, on all cores; ns an unknown must not
grow.

**petsc**: time to solution (1e-8) against KSPCG with local symmetric SOR on the same matrix as BAIJ with blocks of 3,
in turns within one launch, with the MPI PETSc is there for (Debian: petsc-dev with Open MPI 4.1); left out without it.

What is found is kept by processor with `--keep`, in benchmarks/data/<vendor>-<family>-<model>/solver.json; `--kept`
measures nothing and prints what is there of all processors as docs/solver.md has it: all three.
`--kept --picture docs/images/solver.svg` also draws it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from solver_picture import draw, panels

from unisono.cmdline.layouts import Layout
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT
from unisono.hybrid.lines import line
from unisono.hybrid.solver import answer_of, petsc_program, solver_program, solver_words
from unisono.hybrid.variants import Variant
from unisono.inventory.describe import describe
from unisono.launch.process import run
from unisono.machine.description import Machine

TARGET = 0.9
"""Of the bandwidth bound."""
BESIDE = 3
"""Iterations between two measurements of the bandwidth."""
TARGET_PETSC = 1.5
"""Of time to solution."""
GROWTH = (40, 64, 80, 112, 144)
DATA = Path(__file__).parent / "data"


def launch(machine: Machine, layout: Layout, words: list[str]) -> dict[str, Any]:
    made = line(machine, Variant(1, layout, "none", "single", DEFAULT), words)
    done = run(made.argv, made.env, deadline=600.0)
    if done.exit_code not in (0, 1):  # 1: the iterations ended it, as is meant
        raise UserError(f"the solver did not run: {done.stderr.strip()[-300:]}")
    return answer_of(done.stdout)


def solve(machine: Machine, layout: Layout, size: int, iterations: int, *more: str) -> dict[str, Any]:
    assert machine.mpi is not None
    program = str(solver_program(machine.mpi.mpicc))
    words = solver_words(program, str(size), layout.threads, "single", ["--iterations", str(iterations), *more])
    return launch(machine, layout, words)


def spread(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def words_of(layout: Layout) -> str:
    return f"{layout.processes} x {layout.threads}"


def bandwidth(machine: Machine, size: int, launches: int, against: list[str], console: Console) -> dict[str, Any]:
    cores = machine.cores
    layouts = dict.fromkeys([Layout(1, 1), Layout(cores, 1), Layout(1, cores)])
    turns = [(layout, more) for layout in layouts for more in ("", *against)]
    answers: dict[tuple[Layout, str], list[dict[str, Any]]] = {turn: [] for turn in turns}
    for _ in range(launches):
        for layout, more in turns:
            answers[layout, more].append(solve(machine, layout, size, 90, "--beside", str(BESIDE), *more.split()))
    table = Table(title=f"{size}^3 nodes, {launches} launches each, in turns", title_justify="left")
    columns = ("triad GB/s", "reading GB/s", "GFLOPS")
    sharing = (
        "quickest iteration / best triad",
        "whole / triads beside",
        "whole / reading beside",
        "whole / best triads",
    )
    for name in ("processes x threads", "kernels", *columns, *sharing, "target"):
        table.add_column(name, justify="right")
    found: dict[str, dict[str, Any]] = {}
    for (layout, more), given in answers.items():
        triads = [max(a["triad_before"], a["triad_after"]) for a in given]
        reading = spread([max(a["read_before"], a["read_after"]) for a in given])
        shares = {
            "best": spread([a["gbytes_per_second_best"] / triad for a, triad in zip(given, triads, strict=True)]),
            "beside": spread([share_beside(a["beside"], "triads") for a in given]),
            "beside_reading": spread([share_beside(a["beside"], "reads") for a in given]),
            "whole": spread([a["fraction"] for a in given]),
        }
        gflops = spread([a["gflops"] for a in given])
        ways = Counter(f"{a['kernels']} {a['prefetch']}:{a['prefetch_bytes']}" for a in given)
        took = spread([a["choice"]["seconds"] for a in given])
        values = {"triad": spread(triads), "reading": reading, "gflops": gflops, **shares}
        found[f"{layout.name} {more}".strip()] = {**values, "chosen": dict(ways), "choice_seconds": took}
        between = [f"{v['median']:.0%} ({v['least']:.0%} to {v['most']:.0%})" for v in shares.values()]
        rates = [f"{v['median']:.1f}" for v in (spread(triads), reading)]
        rates.append(f"{gflops['median']:.2f}")
        table.add_row(words_of(layout), more or "measured", *rates, *between, f"{TARGET:.0%}")
    console.print(table)
    measured = [found[layout.name] for layout in layouts]
    met = all(min(v["best"]["median"], v["beside"]["median"]) >= TARGET for v in measured)
    return {"size": size, "launches": launches, "layouts": found, "target_met": met}


def share_beside(blocks: list[dict[str, Any]], of: str) -> float:
    """How long the iterations would have taken at the rates measured beside them, over how long they did."""
    bound = sum(block["iterations"] * 2 / sum(block[of]) for block in blocks)
    return float(bound / sum(block["iterations"] / block["gbytes_per_second"] for block in blocks))


def growth(machine: Machine, console: Console) -> dict[str, Any]:
    iterations, times, layout = 10, 2, Layout(1, machine.cores)
    table = Table(title=f"ns an unknown, flat MPI ({machine.cores} processes), best of {times}", title_justify="left")
    for name in ("nodes", "unknowns", "set-up", "iteration"):
        table.add_column(name, justify="right")
    found: dict[int, dict[str, float]] = {}
    for size in GROWTH:
        answers = [solve(machine, layout, size, iterations) for _ in range(times)]
        unknowns = answers[0]["unknowns"]
        found[size] = {
            "unknowns": unknowns,
            "setup_ns": min(1e9 * a["setup_seconds"] / unknowns for a in answers),
            "iteration_ns": min(1e9 * a["seconds"] / iterations / unknowns for a in answers),
        }
        values = found[size]
        table.add_row(f"{size}^3", f"{unknowns:,}", f"{values['setup_ns']:.0f}", f"{values['iteration_ns']:.1f}")
    console.print(table)
    return {"sizes": found}


def petsc(machine: Machine, size: int, rounds: int, console: Console) -> dict[str, Any]:
    assert machine.mpi is not None
    program = str(petsc_program(machine.mpi.mpicc))
    cores = machine.cores
    table = Table(title=f"Time to solution, {size}^3 nodes, {rounds} rounds in turns", title_justify="left")
    for name in ("processes x threads", "ordering", "ours, iterations", "PETSc, iterations", "PETSc / ours", "target"):
        table.add_column(name, justify="right")
    found = []
    for layout in dict.fromkeys([Layout(1, 1), Layout(1, cores)]):
        for ordering in ("natural", "cmrcm"):
            options = ["--nodes", str(size), "--threads", str(layout.threads), "--ordering", ordering]
            answer = launch(machine, layout, [program, "race", str(rounds), *options])
            ours, theirs = (statistics.median(pair[k] for pair in answer["seconds"]) for k in (0, 1))
            ratio = spread([pair[1] / pair[0] for pair in answer["seconds"]])
            found.append({"layout": layout.name, "ordering": ordering, "ratio": ratio, **answer})
            iterations = answer["iterations"]
            table.add_row(
                words_of(layout), ordering, f"{ours:.2f} s, {iterations[0]}", f"{theirs:.2f} s, {iterations[1]}",
                f"{ratio['median']:.2f} ({ratio['least']:.2f} to {ratio['most']:.2f})", f"{TARGET_PETSC}",
            )  # fmt: skip
    console.print(table)
    best = {of: max(f["ratio"]["median"] for f in found if f["layout"] == of) for of in {f["layout"] for f in found}}
    return {"size": size, "races": found, "target_met": min(best.values()) >= TARGET_PETSC}


def kept() -> str:
    """A line of a Markdown table for each processor and layout: medians, and of the shares the least and the most."""
    names = (
        "processor",
        "threads x processes",
        "triad, GB/s",
        "reading, GB/s",
        "GFLOPS",
        "quickest iteration / best triad",
    )
    sharing = ("best", "beside", "beside_reading", "whole")
    whole = [f"whole solution / {of}" for of in ("triads during it", "reading during it", "best triad")]
    lines = [f"| {' | '.join([*names, *whole])} |", "|---" * (len(names) + len(whole)) + "|"]
    for path in sorted(DATA.glob("*/solver.json")):
        found = json.loads(path.read_text()).get("bandwidth", {"layouts": {}})
        for name, values in found["layouts"].items():
            rates = [f"{values['triad']['median']:.1f}", f"{values['reading']['median']:.1f}"]
            rates.append(f"{values['gflops']['median']:.2f}")
            shares = [share(values[of]) for of in sharing]
            lines.append(f"| {' | '.join([path.parent.name, name, *rates, *shares])} |")
    return "\n".join(lines)


def kept_races() -> str:
    """The same of the races against PETSc: medians, and of the ratio the least and the most."""
    names = ("processor", "processes", "our ordering", "ours, iterations", "PETSc, iterations", "PETSc / ours")
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for path in sorted(DATA.glob("*/solver.json")):
        for race in json.loads(path.read_text()).get("petsc", {"races": []})["races"]:
            seconds = (statistics.median(pair[k] for pair in race["seconds"]) for k in (0, 1))
            times = (f"{time:.2f} s, {count}" for time, count in zip(seconds, race["iterations"], strict=True))
            ratio = "{median:.1f} ({least:.1f} to {most:.1f})".format(**race["ratio"])
            words = [path.parent.name, race["layout"].split("x")[1], race["ordering"], *times, ratio]
            lines.append(f"| {' | '.join(words)} |")
    return "\n".join(lines)


def kept_growth() -> str:
    """Set-up and an iteration for growing cubes, ns an unknown."""
    lines = ["| processor | nodes | unknowns | set-up | iteration |", "|---" * 5 + "|"]
    for path in sorted(DATA.glob("*/solver.json")):
        for size, found in json.loads(path.read_text()).get("growth", {"sizes": {}})["sizes"].items():
            times = f"{found['setup_ns']:.0f} | {found['iteration_ns']:.1f}"
            lines.append(f"| {path.parent.name} | {size}^3 | {found['unknowns']:,} | {times} |")
    return "\n".join(lines)


def name_of(path: Path) -> str:
    """Of the processor whose file this is, as docs/solver.md calls it: "Xeon 167"."""
    names = {
        "intel-6-167": "Xeon 167",
        "intel-6-207": "Xeon 207",
        "intel-6-85": "Xeon 85",
        "amd-26-2": "EPYC (Zen 5)",
        "amd-25-17": "EPYC (Zen 4)",
    }
    return names.get(path.parent.name, path.parent.name)


def share(of: dict[str, float]) -> str:
    return f"{100 * of['median']:.0f} % ({100 * of['least']:.0f} to {100 * of['most']:.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", help="of the MPI to use")
    parser.add_argument("--petsc-mpirun", default="mpirun.openmpi", help="of the MPI PETSc is there for")
    parser.add_argument("--only", choices=["bandwidth", "growth", "petsc"])
    parser.add_argument("--size", type=int, default=64, help="nodes in each direction (bandwidth)")
    parser.add_argument("--petsc-size", type=int, default=48, help="the same, against PETSc")
    parser.add_argument("--against", action="append", default=[], help="other options of the solver (bandwidth)")
    parser.add_argument("--keep", action="store_true", help="what was found in benchmarks/data, by processor")
    parser.add_argument("--kept", action="store_true", help="print what was kept of all processors, and end")
    parser.add_argument("--picture", type=Path, metavar="FILE.svg", help="with --kept: also as a chart")
    parser.add_argument("--launches", type=int, default=5, help="of every layout; rounds against PETSc")
    given = parser.parse_args()
    if given.kept:
        print(kept(), kept_races(), kept_growth(), sep="\n\n")
        if given.picture:
            found = {name_of(path): json.loads(path.read_text()) for path in sorted(DATA.glob("*/solver.json"))}
            given.picture.write_text(draw(panels(found)))
        return
    console = Console(width=150)
    machine = describe(given.mpirun)
    assert machine.mpi is not None
    document: dict[str, Any] = {}
    if given.only in (None, "bandwidth"):
        document["bandwidth"] = bandwidth(machine, given.size, given.launches, given.against, console)
    if given.only in (None, "growth"):
        document["growth"] = growth(machine, console)
    if given.only in (None, "petsc"):
        try:
            document["petsc"] = petsc(describe(given.petsc_mpirun), given.petsc_size, given.launches, console)
        except UserError as error:
            console.print(f"Not against PETSc: {error}")
    document["conditions"] = {
        "machine": f"{machine.cpu_model}, {machine.cores} cores",
        "mpi": f"{machine.mpi.family} {machine.mpi.version}",
        "load": [round(value, 1) for value in os.getloadavg()],
    }
    print(json.dumps(document))
    if given.keep:
        keep(document)


def processor() -> str:
    """Vendor, family and model as the kernel numbers them: a virtual machine's model name often says less."""
    lines = (line.partition(":") for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines())
    values = {name.strip(): value.strip() for name, _, value in lines}
    vendor = {"GenuineIntel": "intel", "AuthenticAMD": "amd"}.get(values.get("vendor_id", ""), os.uname().machine)
    return "-".join([vendor, *(values[name] for name in ("cpu family", "model") if name in values)])


def keep(document: dict[str, Any]) -> None:
    """Parts that were not measured now stay as they were."""
    path = DATA / processor() / "solver.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads(path.read_text()) if path.exists() else {}
    conditions = document.pop("conditions")
    for part, values in document.items():
        before[part] = {**values, "conditions": conditions}
    path.write_text(json.dumps(before, indent=1) + "\n")


if __name__ == "__main__":
    main()
