"""The machine drawn in text: sockets, NUMA nodes, last-level caches and cores of one node."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby

from unisono.core.sizes import format_size
from unisono.machine.description import Cpu, Machine
from unisono.machine.files import format_cpu_list

_SIDE_BY_SIDE = 100
"""Columns up to which sockets are drawn beside each other."""


def topology_text(machine: Machine) -> str:
    """Lines of a picture, without a final newline. One box a socket; a row a NUMA node; brackets are shared caches.

    Numbers are the operating system's CPU numbers. Long rows go on below.
    """
    sockets = _split(machine.cpus, "socket")
    contents = [_rows(machine, cpus) for _, cpus in sockets]
    wide = max(len(row) for rows in contents for row in rows)
    boxes = [_box(number, cpus, rows, wide) for (number, cpus), rows in zip(sockets, contents, strict=True)]
    width = sum(len(box[0]) for box in boxes) + len(boxes) - 1
    if width > _SIDE_BY_SIDE:
        return "\n".join(line for box in boxes for line in box)
    height = max(len(box) for box in boxes)
    padded = [box[:-1] + [_blank(box)] * (height - len(box)) + box[-1:] for box in boxes]
    return "\n".join(" ".join(line) for line in zip(*padded, strict=True))


def _split(cpus: Sequence[Cpu], by: str) -> list[tuple[int, list[Cpu]]]:
    def key(cpu: Cpu) -> int:
        number: int = getattr(cpu, by)
        return number

    return [(number, list(group)) for number, group in groupby(sorted(cpus, key=key), key=key)]


def _blank(box: Sequence[str]) -> str:
    return "|" + " " * (len(box[0]) - 2) + "|"


def _rows(machine: Machine, cpus: Sequence[Cpu]) -> list[str]:
    return [line for numa, members in _split(cpus, "numa") for line in _numa(machine, numa, members)]


def _box(number: int, cpus: Sequence[Cpu], rows: Sequence[str], wide: int) -> list[str]:
    cores = len({cpu.core for cpu in cpus})
    title = f" socket {number}: {cores} core{'s' if cores > 1 else ''} "
    width = max(len(title) + 2, wide)
    body = [f"| {row:<{width}} |" for row in rows]
    return [f"+{title:-^{width + 2}}+", *body, f"+{'-' * (width + 2)}+"]


def _numa(machine: Machine, number: int, cpus: Sequence[Cpu]) -> list[str]:
    """ "NUMA 0 (3 x L3 32 MiB): [0-7] [8-15] [16-23]", on as many lines as it needs."""
    groups = _split(cpus, "l3")
    last = machine.last_level_cache
    cache = f"{last.level} {format_size(last.bytes)}" if last is not None else "no cache shown"
    start = f"NUMA {number} ({f'{len(groups)} x ' if len(groups) > 1 else ''}{cache}): "
    words = [f"[{format_cpu_list(cpu.cpu for cpu in members)}]" for _, members in groups]
    return textwrap.wrap(start + " ".join(words), _SIDE_BY_SIDE - 8, subsequent_indent=" " * len(start))
