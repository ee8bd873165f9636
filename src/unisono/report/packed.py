"""What a page carries deflated: the chart library and its figures, as base64; templates/page.js inflates it.

Why Plotly's cartesian bundle, and why deflated: the whole library is 4.8 MB, of which maps, 3D and finance charts are
most; the cartesian bundle has the same scatter, bar and heatmap with hover, zoom and logarithmic axes, is 1.5 MB, and
0.66 MB like this. Browsers inflate it in some 20 ms (DecompressionStream: Chromium 80, Firefox 113, Safari 16.4).
Base64 has no character that markup has, so nothing in a figure can end its element.
"""

from __future__ import annotations

import base64
import json
import zlib
from functools import cache
from importlib import resources
from typing import Any

LIBRARY = "plotly-cartesian.min.js"


def deflated(text: str) -> str:
    """Base64 of the text as UTF-8, deflated (zlib's form)."""
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def inflated(packed: str) -> str:
    """The text that `deflated` was given."""
    return zlib.decompress(base64.b64decode(packed)).decode("utf-8")


@cache
def library() -> str:
    """The chart library, deflated."""
    return deflated(resources.files("unisono.report").joinpath("vendor", LIBRARY).read_text("utf-8"))


class Figures:
    """The figures of one page, in the order in which its template drew them."""

    def __init__(self) -> None:
        self._written: list[str] = []

    def keep(self, figure: Any) -> int:
        """Its number on the page. Numbers that JSON lacks (infinite, not a number) are a ValueError."""
        self._written.append(json.dumps(figure, separators=(",", ":"), ensure_ascii=False, allow_nan=False))
        return len(self._written) - 1

    def __bool__(self) -> bool:
        return bool(self._written)

    def packed(self) -> str:
        """All of them as one deflated JSON list."""
        return deflated(f"[{','.join(self._written)}]")
