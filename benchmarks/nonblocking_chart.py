"""The chart of nonblocking and persistent collectives: how many times as fast ours are, over the message size.

    python benchmarks/nonblocking_chart.py benchmarks/data/intel-6-167/nonblocking.jsonl docs/images/nonblocking.svg

Each line of the first file is the last line that a run of benchmarks/nonblocking.py printed, and becomes one chart.
Barriers have no message size and are left out.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from unisono.simulate.picture import Chart, draw

MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}
SAME = "as fast as the MPI alone"


def chart(run: dict[str, Any]) -> Chart:
    """What one run measured."""
    conditions = run["conditions"]
    persistent = conditions.get("persistent") or conditions.get("kind") == "persistent"
    curves: dict[str, dict[int, float]] = defaultdict(dict)
    for row in run["rows"]:
        if row["collective"] != "ibarrier" and not row["collective"].endswith("_init"):
            name = row["collective"].removeprefix("i") if persistent else row["collective"]
            curves[name][row["bytes"]] = row["mpi_us"] / row["ours_us"]
    sizes = {size for curve in curves.values() for size in curve}
    family, version = conditions["mpi"].split()
    kind = "Persistent (start and wait)" if persistent else "Nonblocking (call and wait)"
    note = f"time of the MPI alone / time with the library (above 1: faster); {conditions['ranks']} ranks"
    return Chart(f"{kind}, {MPIS[family]} {version}", note, {SAME: dict.fromkeys(sizes, 1.0), **curves}, unit="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, metavar="RUNS.jsonl")
    parser.add_argument("picture", type=Path, metavar="FILE.svg")
    given = parser.parse_args()
    given.picture.write_text(draw([chart(json.loads(line)) for line in given.runs.read_text().splitlines()]))


if __name__ == "__main__":
    main()
