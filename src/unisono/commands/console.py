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

from unisono.core.lines import HELD, breaks, has_wide

_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[KMGTP]iB|B|ns|us|ms|s)\b|%)")
# Not at no-break spaces: rich breaks lines at these, too, and who searches for "1 KiB" would not find it with one.


class Terminal(Console):
    """Breaks no line between a number and its unit, in tables and in sentences; and Japanese ones where they may end,
    while rich knows words between spaces only and would leave half a line empty."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        if isinstance(renderable, str):
            asked = options or self.options
            renderable = self.render_str(renderable, highlight=asked.highlight, markup=asked.markup)
        if not isinstance(renderable, Text):
            yield from super().render(renderable, options)
            return
        held = renderable.copy()
        held.plain = _BEFORE_UNIT.sub(HELD, renderable.plain)
        asked = options or self.options
        if has_wide(held.plain) and not (held.no_wrap or asked.no_wrap) and held.overflow != "ellipsis":
            held = _broken(held, asked.max_width)
        for segment in super().render(held, options):
            yield segment._replace(text=segment.text.replace(HELD, " "))


def _broken(text: Text, width: int) -> Text:
    """With the ends of its lines in it."""
    lines = Text("\n", end=text.end, justify=text.justify, overflow=text.overflow)
    parts = []
    for paragraph in text.split("\n", allow_blank=True):
        for part in paragraph.divide(breaks(paragraph.plain, width)):
            part.rstrip()
            parts.append(part)
    joined = lines.join(parts)
    joined.style = text.style
    return joined


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
