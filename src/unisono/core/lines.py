"""Where lines may end: beside wide characters, too, which no spaces part."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

HELD = "\ue000"
"""Stands for a space at which no line ends, while lines are broken."""

_OPENING = "「（"
_CLOSING = "、。，）」」：；！？"


def has_wide(text: str) -> bool:
    return any(_wide(character) for character in text)


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns: broken at spaces and beside wide characters, never before 、 or 。"""
    ends = [0, *breaks(text, width), len(text)]
    lines = [text[first:last].rstrip() for first, last in pairwise(ends)]
    return lines if lines[-1] else lines[:-1]


def breaks(text: str, width: int) -> list[int]:
    """Where the lines of `wrapped` but the first begin."""
    from rich.cells import cell_len

    found: list[int] = []
    line, at = "", 0
    for piece in _pieces(text):
        if line and cell_len(line + piece.rstrip()) > width:
            found.append(at)
            line = ""
        line += piece
        at += len(piece)
    return found


def _wide(character: str) -> bool:
    return ord(character) >= 0x2E80 and character != HELD


def _pieces(text: str) -> Iterator[str]:
    """What no line break may part: a word with the space behind it, or a wide character with its punctuation."""
    piece = ""
    for character in text:
        beside = _wide(character) or (piece != "" and _wide(piece[-1]))
        apart = character not in _CLOSING + " " and piece[-1:] not in _OPENING
        if piece and (piece[-1] == " " or (beside and apart)):
            yield piece
            piece = ""
        piece += character
    if piece:
        yield piece
