"""The lines of an output that may have been cut off, and the numbers in them."""

from __future__ import annotations

import math
import re

from unisono.core.language import N_
from unisono.core.sizes import MOST
from unisono.results.found import Found

_COUNT = re.compile(r"[0-9]{1,18}")


def complete_lines(text: str, found: Found) -> list[str]:
    """All lines but a last one without an end: a number in it may lack its last digits."""
    *lines, rest = text.replace("\r\n", "\n").split("\n")
    if rest.strip():
        found.note(N_("A file ends in the middle of a line; that line was left out."))
    return lines


def count(word: str) -> int | None:
    """A whole number that is not negative; None for anything else."""
    return int(word) if _COUNT.fullmatch(word) and int(word) <= MOST else None


def positive(word: str, unit: float = 1.0) -> float | None:
    """Seconds, where the word is a positive number of `unit`s; None for anything else."""
    try:
        value = float(word) * unit
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 < value < 1e9 else None
