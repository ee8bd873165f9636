"""How large a study can be: made-up samples are stored, read, decided and reported, with time, memory and page size.

    python benchmarks/large_study.py [--samples 1000000] [--profile]

The samples are those of a machine that never was: 100 cases, 20 message sizes, five launch settings with ten algorithms
each, as many launches as it takes. Each step runs in a process of its own; its memory is that process's peak. The goal
is a million samples read, decided and reported in a minute, within 2 GiB, as a page below 10 MB.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import math
import multiprocessing
import os
import pstats
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Setting
from unisono.decide.decide import decide
from unisono.decide.document import from_decision
from unisono.report.report import write_report
from unisono.results.study import unknown_machine
from unisono.study.store import Statistics, Store

COLLECTIVES = ("allreduce", "bcast", "alltoall", "allgather", "reduce")
SHAPES = [(nodes, ppn) for nodes in (1, 2, 4, 8, 16) for ppn in (1, 2, 4, 8)]
SIZES = [8 << number for number in range(20)]
LAUNCHES = [DEFAULT, *(Setting({"UCX_RNDV_THRESH": f"{kib}kb"}) for kib in (8, 32, 128, 512))]
CALLS = [DEFAULT, *(Setting({"coll": "tuned", "algorithm": name}) for name in "abcdefghi")]
PER_LAUNCH = len(COLLECTIVES) * len(SIZES) * len(CALLS)


def make(path: Path, samples: int) -> None:
    """A study of that many samples, or a few more."""
    rounds = math.ceil(samples / (PER_LAUNCH * len(SHAPES) * len(LAUNCHES)))
    random = np.random.default_rng(1)
    machine = unknown_machine(("openmpi", "5.0.0"))
    meta = {"margin": 0.03, "confidence": 0.95, "weights": {}, "scope": list(CALL_SCOPE), "imported": ["made up"]}
    with Store.create(path, name="large", config="{}", method="race", machine=machine, meta=meta) as store:
        effect = {(c, s): random.normal(0, 0.15) for c in COLLECTIVES for s in (*LAUNCHES, *CALLS)}
        for round_ in range(1, rounds + 1):
            for nodes, ppn in SHAPES:
                for part in LAUNCHES:
                    with store.together():
                        launch = store.begin_launch(part, nodes, ppn, round_, "made up", False)
                        level = random.normal(0, 0.02)
                        for collective in COLLECTIVES:
                            for call in CALLS:
                                shift = level + effect[collective, part] + effect[collective, call]
                                for size in SIZES:
                                    seconds = (2e-6 + size * 1e-9) * math.exp(shift + random.normal(0, 0.03))
                                    store.add_sample(launch, collective, size, part | call, _statistics(seconds), b"")
                        store.end_launch(launch, "done", "", 1.0)


def _statistics(seconds: float) -> Statistics:
    return Statistics(
        repetitions=128,
        discarded=0,
        sync="imported",
        minimum=0.9 * seconds,
        q1=0.95 * seconds,
        median=seconds,
        q3=1.05 * seconds,
        p95=1.2 * seconds,
        mean=1.02 * seconds,
        trimmed=1.01 * seconds,
        correct=None,
    )


def measure(path: Path, page: Path, profile: bool) -> dict[str, float]:
    """Seconds of each step, and the peak memory of this process in GiB."""
    found: dict[str, float] = {}
    began = time.perf_counter()

    def took(name: str) -> None:
        nonlocal began
        now = time.perf_counter()
        found[name] = now - began
        began = now

    with Store.open(path) as store:
        data = store.data()
    found["samples"] = len(data.samples)
    took("read")
    profiler = cProfile.Profile()
    if profile:
        profiler.enable()
    decision = decide(data.samples, method="race", scope=data.scope)
    profiler.disable()
    took("decide")
    write_report(data, decision, page, tuning=from_decision(decision, data), verification=None)
    took("report")
    found["peak_gib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    found["page_mb"] = page.stat().st_size / 1e6
    if profile:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(25)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--profile", action="store_true", help="of deciding; slows it down")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        make(path, options.samples)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found = pool.apply(measure, (path, Path(folder) / "report.html", options.profile))
        found["study_mb"] = path.stat().st_size / 1e6
    table = Table(title="A large study", title_justify="left")
    for name in ("what", "found"):
        table.add_column(name)
    for name, value in found.items():
        table.add_row(name, f"{value:,.0f}" if name == "samples" else f"{value:,.2f}")
    Console().print(table)
    print(json.dumps({**found, "cpus": os.cpu_count(), "shapes": len(SHAPES), "sizes": len(SIZES)}))


if __name__ == "__main__":
    main()
