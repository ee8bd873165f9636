"""What the trial of algorithms at MPI_Init gains over the cost models alone, on one node.

    python benchmarks/trial_gain.py [--launches 5] [--ranks 2] [--mpirun PATH]

The same library, its own choice (UNISONO_COLLECTIVES=on, no rules), in launches that take turns: by a trial's file, and
by one whose factors are all 1, so that the models alone choose, with the same measured costs. Prints, for every
collective and message size, the medians of both over the launches (each the quickest of three rows of calls), their
ratio with the least and largest of a pair of launches, and the geometric mean. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import struct
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from unisono.cmdline.command import command
from unisono.cmdline.preload import launcher_of, with_variables
from unisono.core.sizes import format_size
from unisono.core.vocabulary import DEFAULT
from unisono.inventory.describe import describe
from unisono.launch.process import run
from unisono.library.recorder import recorder

SOURCE = Path(__file__).with_suffix(".c")
TURNS = 3
TRIES = 20
"""Launches in which a trial may not take place, as something else was running."""
FACTORS = 8 * 320
"""At the end of a trial's file, as floats (native/dispatch/trial.h)."""
STARTS = 3
"""So many starts try; what a file begins with, behind its key."""
FIELDS = 3

Times = dict[tuple[str, int], list[float]]


def starts(file: Path) -> int:
    content = file.read_bytes()
    (found,) = struct.unpack_from("<i", content, content.index(b"\0") + 1)
    return int(found)


def quickest(text: str) -> dict[tuple[str, int], float]:
    """(collective, bytes) -> seconds, of what the program printed."""
    found: Times = defaultdict(list)
    for words in (line.split() for line in text.splitlines()):
        if len(words) == FIELDS:
            found[words[0], int(words[1])].append(float(words[2]))
    return {case: min(times) for case, times in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", help="of the MPI to use")
    parser.add_argument("--launches", type=int, default=5, help="of each kind")
    parser.add_argument("--ranks", type=int, default=2)
    given = parser.parse_args()
    machine = describe(given.mpirun)
    if machine.mpi is None or machine.mpi.mpicc is None:
        raise SystemExit("no MPI with an mpicc was found")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "trial_gain"
        subprocess.run([machine.mpi.mpicc, "-O2", str(SOURCE), "-o", str(program)], timeout=120, check=True)
        library = recorder(machine.mpi.mpicc)

        def launch(cache: Path, turns: int) -> str:
            argv = [str(program), str(turns)]
            line = command(machine, DEFAULT, 1, given.ranks, argv, oversubscribe=given.ranks > len(machine.cpus))
            variables = {"UNISONO_COLLECTIVES": "on", "XDG_CACHE_HOME": str(cache)}
            added = with_variables(line.argv, launcher_of(line.argv), library, variables, {})
            done = run(added.argv, {**line.env, **added.env}, deadline=300.0)
            if done.exit_code:
                raise SystemExit(f"the program did not run: {done.stderr.strip()[-300:]}")
            return done.stdout

        tried, models = folder / "tried", folder / "models"
        for _ in range(TRIES):
            launch(tried, 0)
            if any(starts(file) == STARTS for file in tried.rglob("trials/*")):
                break
        else:
            raise SystemExit(f"{STARTS} starts of {TRIES} had no trial: other processes were running")
        shutil.copytree(tried, models)
        for file in models.rglob("trials/*"):
            file.write_bytes(file.read_bytes()[: -4 * FACTORS] + struct.pack(f"<{FACTORS}f", *[1.0] * FACTORS))
        times: dict[str, Times] = {"models": defaultdict(list), "tried": defaultdict(list)}
        for number in range(given.launches):
            for cache in (tried, models) if number % 2 else (models, tried):
                for case, seconds in quickest(launch(cache, TURNS)).items():
                    times[cache.name][case].append(seconds)
    rows, gains = [], []
    print(f"{'collective':>10} {'size':>6} {'models, us':>11} {'tried, us':>10} {'ratio':>6}  least-largest")
    for (collective, size), by_models in times["models"].items():
        by_trial = times["tried"][collective, size]
        pairs = sorted(one / other for one, other in zip(by_models, by_trial, strict=True))
        before, after = 1e6 * statistics.median(by_models), 1e6 * statistics.median(by_trial)
        gains.append(before / after)
        rows.append({"collective": collective, "bytes": size, "models_us": before, "tried_us": after,
                     "least": pairs[0], "largest": pairs[-1]})  # fmt: skip
        print(f"{collective:>10} {format_size(size):>6} {before:>11.2f} {after:>10.2f} "
              f"{gains[-1]:>6.2f}  {pairs[0]:.2f}-{pairs[-1]:.2f}")  # fmt: skip
    mean = statistics.geometric_mean(gains)
    print(f"geometric mean of {len(rows)}: {mean:.2f}")
    conditions = {"cpu": machine.cpu_model, "mpi": f"{machine.mpi.family} {machine.mpi.version}",
                  "ranks": given.ranks, "launches": given.launches,
                  "load": [round(value, 1) for value in os.getloadavg()]}  # fmt: skip
    print(json.dumps({"mean": mean, "rows": rows, "conditions": conditions}))


if __name__ == "__main__":
    main()
