"""What every rank computes by itself for a choice comes out alike on all machines."""

from __future__ import annotations

import re
from pathlib import Path

NATIVE = Path(__file__).parents[2] / "native"
INEXACT = re.compile(r"\b(?:log|log2|log10|log1p|exp|exp2|expm1|pow|cbrt|hypot|sin|cos|tan|atan2?|tgamma|lgamma)f?\(")
ONE_NODE = {"trial_found.c"}
"""Its ranks have one processor and one C library."""


def test_no_choice_depends_on_a_c_library() -> None:
    """Whose transcendental functions have other last bits where a processor multiplies and adds at once."""
    found = [
        f"{path.name}:{number}: {line.strip()}"
        for folder in ("collectives", "dispatch", "agreement")
        for path in sorted((NATIVE / folder).rglob("*.[ch]"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if INEXACT.search(re.sub(r"/\*.*?\*/|\".*?\"", "", line)) and path.name not in ONE_NODE
    ]
    assert not [line for line in found if "/*" not in line], found
