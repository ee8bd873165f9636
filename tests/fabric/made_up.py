"""Fabrics as launches on a loaded machine give them, with whatever ails in them known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from unisono.fabric.findings import launches_wanted
from unisono.fabric.measured import Array, Fabric, Launch
from unisono.fabric.rounds import rounds

MESSAGE = 1 << 20
LATENCY, RATE, CHUNK = 12e-6, 120e6, 1e-3


@dataclass(frozen=True)
class Ails:
    """Seconds more to and from a node; factors of time of a node's network and processor, and of links."""

    later: Mapping[int, float] = field(default_factory=dict)
    slower: Mapping[int, float] = field(default_factory=dict)
    clock: Mapping[int, float] = field(default_factory=dict)
    links: Mapping[tuple[int, int], float] = field(default_factory=dict)
    far: Sequence[int] = ()
    """These stand behind a switch of their own."""


def made_up(nodes: int, seed: int, ails: Ails | None = None, launches: int | None = None) -> Fabric:
    """Noise as measured on two cores with a load of ten: most times are quick, some several times as long; a launch's
    connections are twice as slow by the luck of their addresses; nodes differ by a percent or two for no reason."""
    ails = ails or Ails()
    random = np.random.default_rng(seed)
    pairs = [pair for some in rounds(nodes) for pair in some]
    own = random.normal(0, 0.01, nodes)
    made = []
    for _ in range(launches or launches_wanted(nodes)):
        latency, large = [], []
        route = np.where(random.random(len(pairs)) < 0.4, 2.4, 1.0)
        for number, (a, b) in enumerate(pairs):
            sound = np.exp(own[a] + own[b]) * ails.links.get((a, b), 1.0)
            far = 1.6 if (a in ails.far) != (b in ails.far) else 1.0
            more = ails.later.get(a, 0.0) + ails.later.get(b, 0.0)
            latency.append((LATENCY * route[number] * far + more) * sound)
            large.append(MESSAGE / RATE * max(ails.slower.get(a, 1.0), ails.slower.get(b, 1.0)) * sound)
        compute = [CHUNK * ails.clock.get(node, 1.0) * np.exp(own[node] / 2) for node in range(nodes)]
        made.append(
            Launch(
                alone=[(x, x, y, y) for x, y in zip(_noisy(latency, random), _noisy(large, random), strict=True)],
                compute=[(x, x, x) for x in _noisy(compute, random)],
            )
        )
    return Fabric(
        created="2026-01-01T00:00:00+00:00",
        machine="made up",
        mpi="Open MPI 5.0",
        nodes=[f"n{i}" for i in range(nodes)],
        pairs=pairs,
        message=MESSAGE,
        shared_processors=False,
        launches=made,
    )


def _noisy(seconds: Sequence[float], random: np.random.Generator) -> list[float]:
    """Up to a tenth longer, and one in ten several times as long (Pareto: no mean that would settle)."""
    values: Array = np.array(seconds) * np.exp(random.exponential(0.03, len(seconds)))
    hit = random.random(len(seconds)) < 0.1
    values[hit] *= 1 + random.pareto(1.0, int(hit.sum()))
    found: list[float] = values.tolist()
    return found
