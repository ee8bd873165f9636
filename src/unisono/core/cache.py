"""Where this user's Unisono keeps what it can make again: built programs, rules files, rank files."""

from __future__ import annotations

import os
from pathlib import Path


def cache() -> Path:
    """${XDG_CACHE_HOME:-~/.cache}/unisono; it need not be there yet."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "unisono"
