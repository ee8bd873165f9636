"""What the slowest node of a measured fabric allows: the limit of whatever must pass every node's link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unisono.core.errors import UserError
from unisono.fabric.measured import Fabric, load


@dataclass(frozen=True, slots=True)
class Slowest:
    """Of the nodes of a case, each at its best: to its quickest neighbour, in its quickest launch."""

    node: str
    """Whose link carries least."""
    rate: float
    """Bytes a second that one pair of ranks sends over it."""
    latency: float
    """Seconds that the node which is farthest from all needs to the nearest, one way."""


def slowest(fabric: Fabric, hosts: Sequence[str]) -> Slowest | None:
    """None where not all of these hosts, two or more, were measured with one another."""
    names = [node.partition(".")[0] for node in fabric.nodes]
    wanted = [names.index(host.partition(".")[0]) for host in hosts if host.partition(".")[0] in names]
    among = [i for i, pair in enumerate(fabric.pairs) if pair[0] in wanted and pair[1] in wanted]
    reached = {node for i in among for node in fabric.pairs[i]}
    if len(wanted) < max(2, len(hosts)) or reached != set(wanted):
        return None
    latency = fabric.latency(fabric.mode).min(axis=0)
    # What a message takes besides its bytes is not the link's rate.
    moving = np.maximum(fabric.large(fabric.mode).min(axis=0) - latency, 1e-12)
    own = {node: [i for i in among if node in fabric.pairs[i]] for node in wanted}
    rates = {node: fabric.message / min(moving[i] for i in mine) for node, mine in own.items()}
    last = min(rates, key=lambda node: rates[node])
    return Slowest(fabric.nodes[last], rates[last], max(min(latency[i] for i in mine) for mine in own.values()))


def beside(directory: Path) -> Fabric | None:
    """What `unisono doctor --fabric -o DIR` left there; None where there is nothing that can be read."""
    path = directory / "fabric.json"
    try:
        return load(path) if path.exists() else None
    except UserError:
        return None
