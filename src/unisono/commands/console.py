"""Where people read: results on stdout, progress and messages on stderr; no colour where there is no terminal."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import Any

from rich.console import Console


def out() -> Console:
    """For results. 100 columns where nothing says otherwise, so that tables in logs stay readable."""
    return Console(width=None if sys.stdout.isatty() else _columns(), highlight=False, soft_wrap=False)


def err() -> Console:
    """For progress and messages."""
    return Console(stderr=True, width=None if sys.stderr.isatty() else _columns(), highlight=False)


def _columns() -> int:
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isascii() and given.isdigit() and int(given) > 40 else 120


def print_json(document: Any) -> None:
    json.dump(document, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def printable(argv: list[str]) -> str:
    """A command as one line that can be pasted into a shell."""
    return shlex.join(argv)
