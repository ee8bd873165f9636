"""Nonblocking collectives of one node: by the MPI library and by ours, in turn in the same launches.

    python benchmarks/nonblocking.py [--launches 3] [--rounds 20] [--ranks 2] [--persistent | --vectors | --neighbours]
                                     [--quantile 0.5] [--mpirun PATH]

For every collective and message size: microseconds of the call and its wait, one after the other (medians over rounds
of the slowest rank's mean; --quantile: less than the median, where other processes take the CPUs now and then), their
ratio, and what is left of them where every rank computes between the two, for twice as long as the slower of the two
takes: 0 is what hides it wholly. --persistent: of a persistent one's start and wait, which Open MPI has from 5.0 on and
MPICH from 4.0 on; then the last row is what making and freeing one takes, and does not count in the mean. --vectors: of
those with a length for each rank, all blocks being alike. --neighbours: of those of ranks in a row. The last line is
one JSON object. --kept FILE of such lines: measures nothing, and prints for each the rows, what computing between the
call and the wait hides (median over collectives and sizes), and how the two compare in what is left (geometric mean).
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
from typing import Any

from unisono.cmdline.command import command
from unisono.cmdline.preload import launcher_of, with_variables
from unisono.core.vocabulary import DEFAULT
from unisono.inventory.describe import describe
from unisono.launch.process import run
from unisono.library.native import native_source
from unisono.library.recorder import recorder

SOURCE = Path(__file__).with_suffix(".c")
FIELDS = 6
SHORT = 512
"""Bytes of the longest message that counts as short."""
WHO = ("mpi", "ours")


def quantile(values: list[float], part: float) -> float:
    """Of sorted values, by lines between neighbours: the median for 0.5."""
    at = part * (len(values) - 1)
    low = min(int(at), len(values) - 2) if len(values) > 1 else 0
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def table(rows: list[dict[str, Any]]) -> None:
    print(
        f"{'collective':>20} {'bytes':>6} {'MPI, us':>8} {'ours, us':>8} {'ratio':>6} {'MPI left':>9} {'ours left':>9}"
    )
    for row in rows:
        plain, ours = row["mpi_us"], row["ours_us"]
        print(f"{row['collective']:>20} {row['bytes']:>6} {plain:>8.2f} {ours:>8.2f} {plain / ours:>6.2f} "
              f"{row['mpi_left_us'] / plain:>9.2f} {row['ours_left_us'] / ours:>9.2f}")  # fmt: skip


def overlap(run: dict[str, Any]) -> list[str]:
    """Of what one run measured, a line for short and one for longer messages."""
    conditions, said = run["conditions"], []
    kind = conditions.get("kind") or ("persistent" if conditions.get("persistent") else "nonblocking")
    for name, sizes in (("up to 512 B", range(SHORT + 1)), ("from 4 KiB", range(SHORT + 1, 1 << 30))):
        rows = [row for row in run["rows"] if row["bytes"] in sizes and not row["collective"].endswith("_init")]
        if rows:
            hidden = [statistics.median(1 - row[f"{who}_left_us"] / row[f"{who}_us"] for row in rows) for who in WHO]
            left = statistics.geometric_mean(row["mpi_left_us"] / row["ours_left_us"] for row in rows)
            said.append(
                f"{conditions['cpu']}, {conditions['mpi']}, {kind}, {name}: hidden of the MPI's {hidden[0]:.0%}, "
                f"of ours {hidden[1]:.0%}; left of the MPI's / of ours {left:.2f}"
            )
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpirun", help="of the MPI to use")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=20, help="in a launch")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--persistent", action="store_const", dest="kind", const="persistent")
    kind.add_argument("--vectors", action="store_const", dest="kind", const="vectors")
    kind.add_argument("--neighbours", action="store_const", dest="kind", const="neighbours")
    parser.add_argument("--quantile", type=float, default=0.5, help="of the rounds, that is said of each")
    parser.add_argument("--kept", type=Path, help="a file of earlier last lines: measure nothing")
    given = parser.parse_args()
    if given.kept is not None:
        for line in given.kept.read_text().splitlines():
            table(json.loads(line)["rows"])
            print("\n".join(overlap(json.loads(line))))
        return
    machine = describe(given.mpirun)
    if machine.mpi is None or machine.mpi.mpicc is None:
        raise SystemExit("no MPI with an mpicc was found")
    rounds: dict[tuple[str, int], list[tuple[float, ...]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        program, include = Path(name) / "nonblocking", native_source() / "include"
        compile_ = [machine.mpi.mpicc, "-O2", f"-I{include}", str(SOURCE), "-o", str(program), "-ldl"]
        subprocess.run(compile_, timeout=120, check=True)
        more = [given.kind] if given.kind else []
        argv, crowded = [str(program), str(given.rounds), *more], given.ranks > len(machine.cpus)
        line = command(machine, DEFAULT, 1, given.ranks, argv, oversubscribe=crowded)
        library = recorder(machine.mpi.mpicc)
        added = with_variables(line.argv, launcher_of(line.argv), library, {"UNISONO_VERBOSE": "1"}, {})
        for _ in range(given.launches):
            done = run(added.argv, {**line.env, **added.env}, deadline=300.0)
            if done.exit_code:
                raise SystemExit(f"the program did not run: {done.stderr.strip()[-300:]}")
            for words in (line.split() for line in done.stdout.splitlines()):
                if len(words) == FIELDS:
                    rounds[words[0], int(words[1])].append(tuple(1e6 * float(word) for word in words[2:]))
    rows, ratios = [], []
    for (collective, size), found in rounds.items():
        plain, ours, plain_left, ours_left = (
            quantile(sorted(one[i] for one in found), given.quantile) for i in range(4)
        )
        rows.append({"collective": collective, "bytes": size, "mpi_us": plain, "ours_us": ours,
                     "mpi_left_us": plain_left, "ours_left_us": ours_left})  # fmt: skip
        if not collective.endswith("_init"):
            ratios.append(plain / ours)
    table(rows)
    mean = statistics.geometric_mean(ratios)
    conditions = {"mpi": f"{machine.mpi.family} {machine.mpi.version}", "cpu": machine.cpu_model, "ranks": given.ranks,
                  "launches": given.launches, "kind": given.kind, "quantile": given.quantile,
                  "rounds": given.rounds,
                  "load": [round(value, 1) for value in os.getloadavg()]}  # fmt: skip
    print(f"geometric mean of the ratios {mean:.2f}")
    print(json.dumps({"rows": rows, "mean": mean, "conditions": conditions}))


if __name__ == "__main__":
    main()
