"""Reading reports made for people: lines, and numbers as they print them."""

from __future__ import annotations

import math
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.reading import REPORT_MOST, read_bytes

RANKS_MOST = 1 << 20
"""More ranks than this are damage, not a machine."""
COUNT_MOST = 1 << 60
"""Calls and bytes of a whole run stay below."""


def read_lines(path: Path) -> list[str]:
    """The lines of a text file; bytes that are no UTF-8 are replaced. Raises UserError."""
    return read_bytes(path, REPORT_MOST).decode("utf-8", "replace").splitlines()


def is_text(head: bytes) -> bool:
    """Whether the beginning of a file is no archive's."""
    return b"\0" not in head


def number(text: str) -> float | None:
    """ "3,631.26", "1.92e+06" -> a finite number of at least 0; None for anything else."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= COUNT_MOST and "_" not in text else None


def count(text: str) -> int | None:
    """ "90,243,072" -> a whole number of at least 0; None for anything else."""
    value = number(text)
    return int(value) if value is not None and value == int(value) else None


def damaged(where: str, line: int, text: str, what: str) -> UserError:
    """An error that names file, line and what was expected there. `line` counts from 0."""
    return UserError(
        _("{where}, line {line}: {what}, not {text!r}").format(
            where=where, line=line + 1, what=what, text=text.strip()[:80]
        )
    )
