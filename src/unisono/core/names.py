"""Names that people write, and what a misspelt one may have been meant for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """Known names that look like this one, best first; case does not count."""
    folded = {candidate.lower(): candidate for candidate in known}
    return [folded[match] for match in difflib.get_close_matches(name.lower(), list(folded), n=3, cutoff=0.75)]
