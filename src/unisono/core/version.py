"""Comparing version numbers such as 4.1.7a1, 5.0.6 and 6.1.0rc2."""

from __future__ import annotations

import re


def version_tuple(version: str) -> tuple[int, int, int]:
    """(major, minor, release); what follows the third number (a1, rc2) is left out, what is missing is 0."""
    match = re.match(r"\s*v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?", version, re.ASCII)
    if match is None:
        return (0, 0, 0)
    return (int(match[1]), int(match[2] or 0), int(match[3] or 0))


def at_least(version: str, wanted: str) -> bool:
    return version_tuple(version) >= version_tuple(wanted)
