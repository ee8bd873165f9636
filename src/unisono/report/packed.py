"""What a page carries deflated: the chart library and its figures, as base 85; templates/page.js inflates it.

Why Plotly, and why deflated: of its 4.8 MB maps, 3D and finance charts are most. A bundle of what pages draw (scatter,
bar and heatmap with hover, zoom and logarithmic axes: tools/plotly) is 0.87 MB, and 0.39 MB like this. Browsers inflate
it in some 20 ms (DecompressionStream: Chromium 80, Firefox 113, Safari 16.4). Base 85 takes 5 characters for 4 bytes,
where base 64 takes 4 for 3. `_LESS` stands for the one character of it that markup has, so nothing in a figure can end
its element.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from unisono.report.axes import Figure

LIBRARY = "plotly-unisono.min.js"
_LESS = ","


def deflated(text: str) -> str:
    """Base 85 of the text as UTF-8, deflated (zlib's form)."""
    return base64.b85encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii").replace("<", _LESS)


def inflated(packed: str) -> str:
    """The text that `deflated` was given."""
    return zlib.decompress(base64.b85decode(packed.replace(_LESS, "<"))).decode("utf-8")


@cache
def library() -> str:
    """The chart library, deflated."""
    return deflated(resources.files("unisono.report").joinpath("vendor", LIBRARY).read_text("utf-8"))


class Figures:
    """The figures of one page, in the order in which its template drew them.

    They are written property by property, the layouts of all figures and each property of all traces: alike stands by
    alike, within the 32 KiB that deflating looks back, which makes a page of a hundred cases a quarter smaller.
    """

    def __init__(self) -> None:
        self._figures: list[str] = []
        self._traces: list[dict[str, str]] = []
        self._ends: list[int] = []

    def keep(self, figure: Mapping[str, Any]) -> int:
        """Its number on the page. Numbers that JSON lacks (infinite, not a number) are a ValueError."""
        self._figures.append(_written({key: value for key, value in figure.items() if key != "data"}))
        self._traces += [{key: _written(value) for key, value in trace.items()} for trace in figure["data"]]
        self._ends.append(len(self._traces))
        return len(self._figures) - 1

    def __bool__(self) -> bool:
        return bool(self._figures)

    def packed(self) -> str:
        """All of them as one deflated JSON object: figures without traces, where each one's traces end, and a list a
        property with an entry a trace; null where a trace has it not."""
        names = sorted({name for trace in self._traces for name in trace})
        columns = ",".join(
            f"{_written(name)}:[{','.join(trace.get(name, 'null') for trace in self._traces)}]" for name in names
        )
        figures = ",".join(self._figures)
        return deflated(f'{{"figures":[{figures}],"ends":{_written(self._ends)},"traces":{{{columns}}}}}')


def unpacked(packed: str) -> list[Figure]:
    """The figures that `Figures.packed` was made of, as the page's script has them."""
    found = json.loads(inflated(packed))
    columns: dict[str, list[Any]] = found["traces"]
    figures: list[Figure] = found["figures"]
    begin = 0
    for figure, end in zip(figures, found["ends"], strict=True):
        figure["data"] = [
            {name: column[number] for name, column in columns.items() if column[number] is not None}
            for number in range(begin, end)
        ]
        begin = end
    return figures


def _written(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
