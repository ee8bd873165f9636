"""A fabric for people: the answer, a matrix of few nodes, and the tree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unisono.core.language import _, listed
from unisono.fabric.findings import conclusion, findings, sentence, shown
from unisono.fabric.measured import Fabric
from unisono.fabric.tree import Branch, tree

_MATRIX_MOST = 12
"""Nodes: a matrix of more does not fit a terminal."""
_NAMES_MOST = 8


def lines(fabric: Fabric) -> list[str]:
    """The summary; the first line is the answer."""
    found = findings(fabric)
    said = [conclusion(fabric, found), *(f"  {sentence(one, fabric)}" for one in found), ""]
    said += facts(fabric)
    if len(fabric.nodes) <= _MATRIX_MOST:
        said += ["", *matrix(fabric)]
    if len(fabric.nodes) > 2:
        said += ["", *_tree_lines(fabric)]
    return said


def facts(fabric: Fabric) -> list[str]:
    """What is usual between nodes, alone and all at once."""
    said = []
    for mode, name in (("alone", _("One pair at a time")), ("together", _("All pairs of a round at once"))):
        times = fabric.latency(mode)  # type: ignore[arg-type]
        if times.size:
            rate = fabric.message / float(np.median(fabric.large(mode)))  # type: ignore[arg-type]
            said.append(
                _("{name}: {latency} one way, {rate} (medians)").format(
                    name=name, latency=shown("latency", float(np.median(times))), rate=shown("rate", rate)
                )
            )
    return said


def matrix(fabric: Fabric) -> list[str]:
    """Above the diagonal microseconds one way, below it MB/s; medians over launches."""
    latency = np.median(fabric.latency(fabric.mode), axis=0)
    rate = fabric.message / np.median(fabric.large(fabric.mode), axis=0)
    cells = {}
    for (a, b), micro, bytes_a_second in zip(fabric.pairs, latency * 1e6, rate / 1e6, strict=True):
        low, high = sorted((a, b))
        cells[low, high] = f"{micro:.3g}"
        cells[high, low] = f"{bytes_a_second:.0f}"
    count = len(fabric.nodes)
    names = [name[:9] for name in fabric.nodes]
    width = max(6, *(len(name) for name in names))
    rows = [" ".join(f"{text:>{width}}" for text in ("", *names))]
    for row in range(count):
        values = ["-" if row == column else cells.get((row, column), "") for column in range(count)]
        rows.append(" ".join(f"{text:>{width}}" for text in (names[row], *values)))
    return [_("Above the diagonal us one way, below it MB/s"), *rows]


def _tree_lines(fabric: Fabric) -> list[str]:
    root = tree(fabric)
    return [_("Who is near to whom"), *_drawn(root, fabric)]


def _drawn(branch: Branch, fabric: Fabric, indent: str = "") -> Iterator[str]:
    yield _("{count} nodes, {latency} from one to the next").format(
        count=len(branch.nodes), latency=shown("latency", branch.seconds)
    )
    leaves = [fabric.nodes[part.nodes[0]] for part in branch.branches if not part.branches]
    groups = [part for part in branch.branches if part.branches]
    rest = [*([None] if leaves else []), *groups]
    for number, part in enumerate(rest):
        last = number == len(rest) - 1
        begin, further = ("`- ", "   ") if last else ("|- ", "|  ")
        if part is None:
            yield indent + begin + _named(leaves)
        else:
            first, *more = _drawn(part, fabric, indent + further)
            yield indent + begin + first
            yield from more


def _named(names: list[str]) -> str:
    if len(names) <= _NAMES_MOST:
        return listed(names)
    return _("{names} and {count} more").format(names=listed(names[:_NAMES_MOST]), count=len(names) - _NAMES_MOST)
