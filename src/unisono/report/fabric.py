"""The page of a measured fabric: what is slow, the pairs as matrices, the nodes as a tree and a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from unisono.core.language import _
from unisono.core.sizes import format_size
from unisono.core.writing import write
from unisono.fabric.findings import FALSE_ALARMS, Kind, conclusion, findings, sentence, shown
from unisono.fabric.measured import Fabric, Mode
from unisono.fabric.show import facts
from unisono.fabric.tree import tree
from unisono.report.figures_fabric import dendrogram, matrix, unit
from unisono.report.page import render
from unisono.report.text import count


def write_fabric_report(fabric: Fabric, path: Path) -> Path:
    """Write the page to `path` and return it. Raises UserError when the file cannot be written."""
    return write(path, render("fabric.html.j2", content(fabric)))


def content(fabric: Fabric) -> dict[str, Any]:
    """Every value of the template."""
    found = findings(fabric)
    slow = {node for one in found if len(one.nodes) == 1 for node in one.nodes}
    mode = fabric.mode
    wanted: list[tuple[str, Kind, Mode]] = [
        (_("Latency one way, {unit}"), "latency", mode),
        (_("Rate of {size}, {unit}"), "rate", mode),
    ]
    if mode == "alone":
        wanted.append((_("Rate with all pairs at once, {unit}"), "rate", "together"))
    matrices = [
        (title.format(size=format_size(fabric.message), unit=unit(fabric, kind, of)), figure)
        for title, kind, of in wanted
        if (figure := matrix(fabric, kind, of)) is not None
    ]
    return {
        "title": conclusion(fabric, found),
        "sentences": [sentence(one, fabric) for one in found],
        "facts": facts(fabric),
        "matrices": matrices,
        "tree": dendrogram(tree(fabric), fabric, slow) if len(fabric.nodes) > 2 else None,
        "nodes": _nodes(fabric, slow),
        "share": f"{FALSE_ALARMS:.0%}",
        "provenance": [
            (_("machine"), fabric.machine),
            ("MPI", fabric.mpi),
            (_("begun"), fabric.created[:16].replace("T", " ") + " UTC"),
            (_("launches"), count(len(fabric.launches), "launch")),
            (_("pairs"), str(len(fabric.pairs))),
        ],
        "shared": fabric.shared_processors,
    }


def _nodes(fabric: Fabric, slow: set[int]) -> list[dict[str, Any]]:
    """A row a node: medians over its pairs and all launches."""
    latency = np.median(fabric.latency(fabric.mode), axis=0)
    rate = fabric.message / np.median(fabric.large(fabric.mode), axis=0)
    compute = np.median(fabric.compute(), axis=0)
    rows = []
    for node, name in enumerate(fabric.nodes):
        own = [i for i, pair in enumerate(fabric.pairs) if node in pair]
        rows.append(
            {
                "name": name,
                "slow": node in slow,
                "latency": shown("latency", float(np.median(latency[own]))),
                "rate": shown("rate", float(np.median(rate[own]))),
                "compute": shown("clock", float(compute[node])),
            }
        )
    return rows
