"""Maps of which algorithm is the fastest where, and by how much, side by side in one SVG file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unisono.report.svg import colour, sheet, words

_WIDTH, _LEFT, _TOP, _CELL, _ROW, _LEGEND = 590, 176, 68, 64, 25, 17
_FILLS = ("series-8", "series-2", "series-6", "series-5", "series-3", "ordered-1", "series-4", "ordered-6")
_OPACITY = 0.4
"""Dark letters have to be read on each."""


@dataclass(frozen=True, slots=True)
class Winners:
    """By row and column: who is the fastest, and how many times as fast as what is compared (below 1 in bold)."""

    title: str
    note: str
    columns: Sequence[str]
    cells: Mapping[str, Mapping[str, tuple[str, float]]]


def draw(maps: Sequence[Winners], across: int = 2) -> str:
    """SVG text. A winner has a letter beside its colour, so that the map is read without colours, too."""
    rows = [maps[i : i + across] for i in range(0, len(maps), across)]
    heights = [max(map(_height, row)) for row in rows]
    width, height = across * _WIDTH, sum(heights)
    parts = []
    for i, row in enumerate(rows):
        for k, one in enumerate(row):
            parts += [f'<g transform="translate({k * _WIDTH},{sum(heights[:i])})">', *_map(one), "</g>"]
    return sheet(width, height, parts)


def _names(one: Winners) -> list[str]:
    """Winners in the order of how often they win."""
    found = [name for line in one.cells.values() for name, _ in line.values()]
    return sorted(dict.fromkeys(found), key=lambda name: -found.count(name))


def _height(one: Winners) -> int:
    return _TOP + _ROW * len(one.cells) + _LEGEND * -(-len(_names(one)) // 3) + 46


def _map(one: Winners) -> list[str]:
    number = {name: i for i, name in enumerate(_names(one))}
    parts = [
        words(12, 24, one.title, more='font-size="15" font-weight="bold"'),
        words(12, 42, one.note, "quiet"),
        *(
            words(_LEFT + (i + 0.5) * _CELL, _TOP - 6, name, "quiet", 'text-anchor="middle"')
            for i, name in enumerate(one.columns)
        ),
    ]
    for i, (row, line) in enumerate(one.cells.items()):
        y = _TOP + i * _ROW
        parts.append(words(_LEFT - 8, y + 17, row, more='text-anchor="end"'))
        for k, column in enumerate(one.columns):
            if column in line:
                name, ratio = line[column]
                parts.append(_box(_LEFT + k * _CELL, y, _CELL - 2, _ROW - 2, number[name]))
                said = f"{_letter(number[name])} {ratio:.2f}"
                x, style = _LEFT + (k + 0.5) * _CELL - 1, 'text-anchor="middle"'
                slower = ("worse", f'{style} font-weight="bold"') if ratio < 1 else ("text", style)
                parts.append(words(x, y + 16, said, *slower))
    for name, i in number.items():
        x, y = 12 + i % 3 * 186, _TOP + len(one.cells) * _ROW + 14 + i // 3 * _LEGEND
        parts += [_box(x, y, 14, 12, i), words(x + 20, y + 10, f"{_letter(i)}  {name}")]
    return parts


def _letter(number: int) -> str:
    return chr(ord("A") + number)


def _box(x: float, y: float, width: float, height: float, number: int) -> str:
    fill = colour(_FILLS[number % len(_FILLS)])
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" fill-opacity="{_OPACITY}"/>'
