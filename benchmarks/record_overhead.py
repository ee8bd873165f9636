"""What recording one MPI call costs, without and with its call path, against unwinding the stack at every call.

    python benchmarks/record_overhead.py                    about 20 seconds
    python benchmarks/record_overhead.py --mpirun PATH      with another MPI

One process makes all three kinds of calls in turn, in short blocks; launches with 0, 2, 8 and 16 frames take turns too.
Prints ns per call: of the function alone (PMPI), what the recorder adds, and what a walk up the stack adds as profilers
do it that remember nothing (unw_step of libunwind where it is installed, else glibc's backtrace). Medians over blocks.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from unisono.cmdline.command import command
from unisono.cmdline.preload import launcher_of, with_variables
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT
from unisono.inventory.describe import describe
from unisono.launch.process import run
from unisono.library.recorder import recorder
from unisono.machine.description import Machine
from unisono.profile.record import Options

SOURCE = Path(__file__).with_suffix(".c")
FRAMES = (0, 2, 8, 16)
DEPTH = 20
"""Frames between main and the calls."""
TARGET, TARGET_WITH_PATH = 50.0, 150.0
"""ns, on a quiet machine."""


@dataclass(frozen=True)
class Row:
    """Costs in ns of one call: quartiles over the blocks."""

    alone: list[float]
    recorded: list[float]
    """Beyond `alone`."""
    walked: list[float] | None
    """Likewise; None where no frame is asked for."""
    target: float

    @property
    def met(self) -> bool:
        return self.recorded[1] <= self.target


def build(folder: Path, mpicc: str) -> tuple[Path, str]:
    """The program, and what it walks the stack with."""
    program = folder / "record_overhead"
    for flags, walker in ((["-DWITH_LIBUNWIND", "-lunwind"], "unw_step of libunwind"), ([], "backtrace of glibc")):
        argv = [mpicc, "-O2", "-g", str(SOURCE), "-o", str(program), *flags]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode == 0:
            return program, walker
    raise UserError(f"{mpicc} could not build {SOURCE.name}: {done.stderr.strip().splitlines()[-1:]}")


def launch(machine: Machine, program: Path, library: Path, folder: Path, frames: int, rounds: int) -> list[list[float]]:
    """ns per call of every block: alone, recorded, walked."""
    words = [str(program), str(rounds), str(DEPTH), str(frames)]
    line = command(machine, DEFAULT, 1, 1, words)
    variables = Options(depth=frames).variables(folder / "run")
    added = with_variables(line.argv, launcher_of(line.argv), library, variables, {})
    done = run(added.argv, {**line.env, **added.env}, deadline=120.0)
    if done.exit_code or not (folder / "run.raw").exists():
        raise UserError(f"the program did not run under the recorder: {done.stderr.strip()[-300:]}")
    return [[float(word) for word in text.split()] for text in done.stdout.splitlines() if len(text.split()) == 3]


def quartiles(values: list[float]) -> list[float]:
    return [round(value, 1) for value in statistics.quantiles(values, n=4)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", help="of the MPI to use")
    parser.add_argument("--launches", type=int, default=3, help="for every number of frames")
    parser.add_argument("--rounds", type=int, default=400, help="blocks in a launch")
    arguments = parser.parse_args()
    machine = describe(arguments.mpirun)
    assert machine.mpi is not None
    if machine.mpi.mpicc is None or shutil.which(machine.mpi.mpicc) is None:
        raise SystemExit("no mpicc beside this mpirun")
    blocks: dict[int, list[list[float]]] = {frames: [] for frames in FRAMES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, walker = build(folder, machine.mpi.mpicc)
        library = recorder(machine.mpi.mpicc)
        for _ in range(arguments.launches):
            for frames in FRAMES:
                blocks[frames] += launch(machine, program, library, folder, frames, arguments.rounds)
    rows = {frames: row(frames, found) for frames, found in blocks.items()}
    show(rows, walker)
    conditions = {
        "machine": f"{machine.cpu_model}, {machine.cores} cores",
        "mpi": f"{machine.mpi.family} {machine.mpi.version}",
        "launches": arguments.launches,
        "blocks": arguments.rounds,
        "walker": walker,
        "oversubscribed": False,
        "load": [round(value, 1) for value in os.getloadavg()],
    }
    found = {frames: asdict(one) for frames, one in rows.items()}
    print(json.dumps({"ns": found, "targets_met": all(one.met for one in rows.values()), "conditions": conditions}))


def row(frames: int, blocks: list[list[float]]) -> Row:
    return Row(
        alone=quartiles([alone for alone, _, _ in blocks]),
        recorded=quartiles([recorded - alone for alone, recorded, _ in blocks]),
        walked=quartiles([walked - alone for alone, _, walked in blocks]) if frames else None,
        target=TARGET_WITH_PATH if frames else TARGET,
    )


def show(rows: dict[int, Row], walker: str) -> None:
    table = Table(title="Cost of recording one call, ns: median (quartiles)", title_justify="left")
    for name in ("frames kept", "the call alone", "recorder adds", "target", f"{walker} adds", "ratio"):
        table.add_column(name, justify="right")
    for frames, one in rows.items():
        cells = [str(frames), f"{one.alone[1]:.0f}", _spread(one.recorded), f"{one.target:.0f}"]
        if one.walked is not None:
            cells += [_spread(one.walked), f"{one.walked[1] / one.recorded[1]:.1f}"]
        table.add_row(*cells)
    Console(width=110).print(table)


def _spread(values: list[float]) -> str:
    return f"{values[1]:.0f} ({values[0]:.0f} to {values[2]:.0f})"


if __name__ == "__main__":
    main()
