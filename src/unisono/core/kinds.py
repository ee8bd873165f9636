"""Which file of ours a path is, by its content: who gives one of them where another is wanted is told what shows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from unisono.core.errors import UserError
from unisono.core.language import N_, _, listed
from unisono.core.reading import open_regular

Kind = Literal["study", "tuning", "profile"]

_HEAD = 1 << 14
"""Bytes. The comments at the beginning of a tuning are a quarter of it."""
_MARKS: dict[Kind, re.Pattern[bytes]] = {
    "study": re.compile(rb"SQLite format 3\0"),
    "tuning": re.compile(rb"(?:.*\n)?format *= *[\"']unisono-tuning[\"']", re.DOTALL),
    "profile": re.compile(rb"PK\x03\x04"),
}
_NAMES: dict[Kind, str] = {"study": N_("a study"), "tuning": N_("a tuning"), "profile": N_("a profile")}
_SHOWN_BY: dict[Kind, str] = {
    "study": "unisono report",
    "tuning": "unisono show",
    "profile": "unisono profile show",
}
_IN_DIRECTORY: dict[Kind, tuple[str, ...]] = {
    "study": ("study.db", "hybrid.db"),
    "tuning": ("tuning.toml",),
    "profile": ("app.profile",),
}
"""What the commands call them that make them."""


def mistaken(path: Path, wanted: Kind) -> UserError | None:
    """What to say of a path that could not be read as `wanted`, where it is another file of ours, or the directory that
    holds such files; None where it is neither."""
    if path.is_dir():
        held = _held(path, wanted)
        said = _("{path}: is a directory; name the file in it: {files}")
        return UserError(said.format(path=path, files=listed([str(file) for file in held]))) if held else None
    kind = _kind_of(path)
    if kind is None or kind == wanted:
        return None
    said = _("{path}: is {kind}, not {wanted}; {command} {path} shows it").format(
        path=path, kind=_(_NAMES[kind]), wanted=_(_NAMES[wanted]), command=_SHOWN_BY[kind]
    )
    beside = [file for file in _held(path.parent, wanted) if _kind_of(file) == wanted]
    if beside:
        said += _(", and {file} beside it is {wanted}").format(file=beside[0], wanted=_(_NAMES[wanted]))
    return UserError(said)


def _held(directory: Path, kind: Kind) -> list[Path]:
    return [file for name in _IN_DIRECTORY[kind] if (file := directory / name).is_file()]


def _kind_of(path: Path) -> Kind | None:
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD)
    except (UserError, OSError):
        return None
    return next((kind for kind, mark in _MARKS.items() if mark.match(head)), None)
