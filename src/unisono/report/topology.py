"""The machine as a drawing: sockets, NUMA nodes, last-level caches and cores of one node."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from rich.cells import cell_len

from unisono.core.language import _
from unisono.machine.description import Cpu, Machine

_GAP = 2.0
_PAD = 7.0
_TEXT = 14.0


@dataclass(frozen=True, slots=True)
class _Box:
    """A drawn part: its size, and its drawing with the origin at its upper left corner."""

    width: float
    height: float
    drawing: Markup

    def at(self, x: float, y: float) -> Markup:
        return Markup('<g transform="translate({:g} {:g})">{}</g>').format(x, y, self.drawing)


def draw(machine: Machine) -> Markup:
    """One node: boxes within boxes, every core with its CPU numbers in its tooltip."""
    sockets = _split(machine.cpus, "socket")
    core = 24.0 if machine.cores <= 16 else 14.0 if machine.cores <= 64 else 9.0
    parts = [_socket(machine, number, cpus, core) for number, cpus in sockets]
    total = sum(p.width for p in parts) + _PAD * (len(parts) - 1)
    columns = len(parts) if total <= 760 else 1
    picture = _grid(parts, columns, gap=_PAD + 3)
    sentence = (
        _("{cores} cores in {numa} NUMA nodes and {sockets} sockets")
        if len(sockets) > 1
        else _("{cores} cores in {numa} NUMA nodes")
    )
    words = sentence.format(cores=machine.cores, numa=len(machine.numa_nodes), sockets=len(sockets))
    return Markup(
        '<svg class="topology" viewBox="0 0 {0:g} {1:g}" width="{0:g}" height="{1:g}" role="img" aria-label="{2}">'
        "{3}</svg>"
    ).format(picture.width + 2, picture.height + 2, words, picture.at(1, 1))


def _split(cpus: Sequence[Cpu], by: str) -> list[tuple[int, list[Cpu]]]:
    numbers = sorted({getattr(c, by) for c in cpus})
    return [(n, [c for c in cpus if getattr(c, by) == n]) for n in numbers]


def _socket(machine: Machine, number: int, cpus: Sequence[Cpu], core: float) -> _Box:
    nodes = [_numa(machine, n, members, core) for n, members in _split(cpus, "numa")]
    inner = _grid(nodes, 2 if len(nodes) > 2 else len(nodes), gap=_PAD)
    return _frame("socket", _("socket {number}").format(number=number), inner)


def _numa(machine: Machine, number: int, cpus: Sequence[Cpu], core: float) -> _Box:
    caches = [_cache(members, core) for _, members in _split(cpus, "l3")]
    inner = _grid(caches, len(caches) if len(caches) <= 4 else math.ceil(math.sqrt(len(caches))), gap=4)
    devices = ", ".join(d.name for d in machine.devices if d.numa == number)
    return _frame("numa", f"NUMA {number}" + (f" · {devices}" if devices else ""), inner)


def _cache(cpus: Sequence[Cpu], core: float) -> _Box:
    cores = [_core(number, members, core) for number, members in _split(cpus, "core")]
    columns = max(1, math.ceil(math.sqrt(len(cores) * 1.6)))
    inner = _grid(cores, columns, gap=_GAP)
    return _frame("l3", "", inner, pad=4)


def _core(number: int, cpus: Sequence[Cpu], side: float) -> _Box:
    numbers = ", ".join(str(c.cpu) for c in sorted(cpus, key=lambda c: c.cpu))
    threads = Markup("").join(
        Markup('<line x1="{0:g}" x2="{0:g}" y1="2" y2="{1:g}"/>').format(side * (i + 1) / len(cpus), side - 2)
        for i in range(len(cpus) - 1)
    )
    return _Box(
        side,
        side,
        Markup('<g class="core"><title>{}</title><rect width="{:g}" height="{:g}" rx="2"/>{}</g>').format(
            _("core {number}: CPU {cpus}").format(number=number, cpus=numbers), side, side, threads
        ),
    )


def _grid(parts: Sequence[_Box], columns: int, gap: float) -> _Box:
    columns = max(1, min(columns, len(parts)))
    width = max((p.width for p in parts), default=0.0)
    height = max((p.height for p in parts), default=0.0)
    rows = math.ceil(len(parts) / columns)
    drawing = Markup("").join(
        part.at(i % columns * (width + gap), i // columns * (height + gap)) for i, part in enumerate(parts)
    )
    return _Box(columns * width + (columns - 1) * gap, rows * height + (rows - 1) * gap, drawing)


def _frame(name: str, label: str, inner: _Box, pad: float = _PAD) -> _Box:
    top = _TEXT + 3 if label else pad
    width = max(inner.width + 2 * pad, 6.6 * cell_len(label) + 2 * pad)
    height = inner.height + top + pad
    text = Markup('<text x="{:g}" y="{:g}">{}</text>').format(pad, _TEXT - 1, label) if label else Markup("")
    return _Box(
        width,
        height,
        Markup('<g class="{}"><rect width="{:g}" height="{:g}" rx="4"/>{}{}</g>').format(
            name, width, height, text, inner.at((width - inner.width) / 2, top)
        ),
    )
