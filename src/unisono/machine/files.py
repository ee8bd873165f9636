"""Reading the small text files of /sys and /proc under a root that tests can replace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.reading import DOCUMENT_MOST, read_bytes

ROOT = Path("/")

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9})/([0-9]{1,9}))?)?")


def read_text(root: Path, path: str) -> str | None:
    """The file's text without surrounding blanks; None when it is not there or may not be read."""
    try:
        return read_bytes(root / path, DOCUMENT_MOST).decode("utf-8", "replace").strip()
    except UserError:
        return None


def read_int(root: Path, path: str) -> int | None:
    """The file's integer; None when it is not there or holds something else ("max", "unlimited")."""
    text = read_text(root, path)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def list_directory(root: Path, path: str) -> list[str]:
    """Names in a directory, sorted; empty when it is not there."""
    try:
        return sorted(entry.name for entry in (root / path).iterdir())
    except OSError:
        return []


def parse_cpu_list(text: str) -> list[int]:
    """Numbers of the kernel's list format, ascending: "0-3,8,10-20:2/5" (groups: 2 of every 5).

    Words that are not part of the format are left out: a list read from a file of another kernel must not stop us.
    """
    numbers: set[int] = set()
    for word in text.replace("\n", ",").split(","):
        match = _RANGE.fullmatch(word.strip())
        if match is None:
            continue
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        used, group = (int(match[3]), int(match[4])) if match[3] else (1, 1)
        if group < 1 or last - first > 1 << 20:
            continue
        numbers.update(n for n in range(first, last + 1) if (n - first) % group < used)
    return sorted(numbers)


def format_cpu_list(cpus: Iterable[int]) -> str:
    """The kernel's list format of some numbers: "0-3,8"."""
    runs: list[tuple[int, int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], cpu)
        else:
            runs.append((cpu, cpu))
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
