"""Whether an exported file is still as it was exported, or a person has edited it since.

The last line of every exported file is a comment with a digest of all lines above.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.reading import read_text

_MARK = "# As exported: "


def sealed(path: Path, text: str) -> str:
    """The text with its digest as a last comment line, as the file at `path` writes comments; `text` ends with a line
    break. JSON has no comments, so nothing tells an edited file."""
    if path.suffix == ".json":
        return text
    if path.suffix == ".lua":
        text += "-- "
    return f"{text}{_MARK}{_digest(text)}\n"


def is_edited(path: Path) -> bool:
    """Whether the file was exported and then changed; False for one that is not there, not ours, or unreadable."""
    try:
        text = read_text(path)
    except UserError:
        return False
    above, mark, digest = text.rpartition(_MARK)
    return bool(mark) and digest.strip() != _digest(above)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
