"""What our cost models say of simulated machines, which is what chooses over many nodes where nothing was measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pytest

from unisono.simulate.files import platform as read_platform
from unisono.simulate.platforms import Number
from unisono.simulate.programs import unavailable
from unisono.simulate.run import Run

reason = unavailable()
pytestmark = pytest.mark.skipif(reason is not None, reason=f"SimGrid: {reason}")

KEPT = Path(__file__).parents[2] / "benchmarks" / "data" / "algorithms-for-scale.jsonl"
START = Number(0.2e-6, "assumed, as in benchmarks/algorithms_for_scale.py")


def kept(machine: str, nodes: int, collective: str) -> Iterator[dict[str, Any]]:
    for line in KEPT.read_text().splitlines():
        row = json.loads(line)
        if (row["machine"], row["nodes"], row["ppn"], row["collective"]) == (machine, nodes, 1, collective):
            yield row


CASES = [("fat-tree-tapered", 64, name) for name in ("allreduce", "bcast", "reduce")]
CASES += [("torus", 96, name) for name in ("allreduce", "bcast")]  # 6 x 4 x 4, where messages take longer by the link


@pytest.mark.parametrize(("machine", "nodes", "collective"), CASES)
def test_what_is_kept_is_what_they_say_and_they_choose_well(machine: str, nodes: int, collective: str) -> None:
    """`python benchmarks/algorithms_for_scale.py --keep ... --models` brings the file, and docs/ what it prints."""
    platform = replace(read_platform(machine).sized(nodes), start=START)
    rows = {row["size"]: row for row in kept(platform.name, nodes, collective)}
    names = [*next(iter(rows.values()))["ours"]]
    said: dict[int, dict[str, float]] = {}
    for result in Run(platform, 1, collective, names, list(rows), free_copies=True, cost=True).results(60):
        if isinstance(result.outcome, float):
            said.setdefault(result.size, {})[result.algorithm] = result.outcome * 1e6
    shares = []
    for size, row in rows.items():
        assert row["models"] == pytest.approx(said[size], abs=0.001)
        times = {name: time for name, time in row["ours"].items() if time is not None}
        chosen = min((name for name in times if name in said[size]), key=said[size].__getitem__)
        shares.append(min(times.values()) / times[chosen])
    assert geometric_mean(shares) > 0.9
