"""Where people read: results on stdout, progress and messages on stderr; no colour where there is no terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[KMGTP]iB|B|ns|us|ms|s)\b|%)")
_HELD = "\ue000"
"""Stands for a space at which no line ends, while lines are broken: rich breaks them at no-break spaces, too, and a
reader who searches for "1 KiB" would not find it with one of those."""


class Terminal(Console):
    """Breaks no line between a number and its unit, in tables and in sentences."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        if isinstance(renderable, str):
            asked = options or self.options
            renderable = self.render_str(renderable, highlight=asked.highlight, markup=asked.markup)
        if not isinstance(renderable, Text):
            yield from super().render(renderable, options)
            return
        held = renderable.copy()
        held.plain = _BEFORE_UNIT.sub(_HELD, renderable.plain)
        for segment in super().render(held, options):
            yield segment._replace(text=segment.text.replace(_HELD, " "))


def out() -> Console:
    """For results. 100 columns where nothing says otherwise, so that tables in logs stay readable."""
    return Terminal(width=None if sys.stdout.isatty() else _columns(), highlight=False, soft_wrap=False)


def err() -> Console:
    """For progress and messages."""
    return Terminal(stderr=True, width=None if sys.stderr.isatty() else _columns(), highlight=False)


def say(sentence: str) -> None:
    """On stderr, where a program's own lines stand beside ours: says whose it is."""
    err().print(f"unisono: {sentence}", markup=False, style="dim", soft_wrap=True)


def _columns() -> int:
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isascii() and given.isdigit() and int(given) > 40 else 120


def print_json(document: Any) -> None:
    json.dump(document, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")
