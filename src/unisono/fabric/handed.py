"""What other programs take from a measured fabric: Slurm's drain line, ReFrame's bounds."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np

from unisono.fabric.findings import Finding, sentence
from unisono.fabric.measured import Array, Fabric

_BOUND_LEAST = 0.05
"""Bounds are never closer to the value than this share."""


def drain_lines(fabric: Fabric, found: Sequence[Finding]) -> list[str]:
    """A line for a shell for each slow node, by which Slurm drains it; a slow link is no node's fault."""
    reasons: dict[str, list[str]] = {}
    for one in found:
        if len(one.nodes) == 1:
            name = fabric.nodes[one.nodes[0]]
            reasons.setdefault(name, []).append(sentence(one, fabric).removeprefix(f"{name}: "))
    return [
        shlex.join(["scontrol", "update", f"NodeName={name}", "State=DRAIN", f"Reason=unisono: {'; '.join(said)}"])
        for name, said in reasons.items()
    ]


def reframe(fabric: Fabric) -> str:
    """A Python text to put into a ReFrame test: its reference with bounds out of the scatter of launches and nodes."""
    mode = fabric.mode
    latency, rate = fabric.latency(mode) * 1e6, fabric.message / fabric.large(mode) / 1e6
    compute = fabric.compute() * 1e3
    rows = [
        ("latency", _bounded(latency, slow_is_high=True), "us"),
        ("latency_worst_pair", _bounded(latency.max(axis=1)[:, None], slow_is_high=True), "us"),
        ("bandwidth", _bounded(rate, slow_is_high=False), "MB/s"),
        ("bandwidth_worst_pair", _bounded(rate.min(axis=1)[:, None], slow_is_high=False), "MB/s"),
        ("compute_worst_node", _bounded(compute.max(axis=1)[:, None], slow_is_high=True), "ms"),
    ]
    inside = "".join(f"        {name!r}: ({value}, {unit!r}),\n" for name, value, unit in rows)
    return f"reference = {{\n    '*': {{\n{inside}    }}\n}}\n"


def _bounded(values: Array, *, slow_is_high: bool) -> str:
    """Value, lower and upper bound as ReFrame has them, of launches x things: twice the farthest median of a launch."""
    each = np.median(values, axis=1)
    value = float(np.median(each))
    scatter = max(_BOUND_LEAST, 2 * float(np.abs(each / value - 1).max()))
    bounds = f"None, {scatter:.3f}" if slow_is_high else f"{-min(scatter, 0.99):.3f}, None"
    return f"{value:.4g}, {bounds}"
