"""Which format a file is, by its content; never by its name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from unisono.errors import UserError
from unisono.language import N_, _
from unisono.profile.check import problem
from unisono.profile.importers import cubex, ipm, ipm_xml, mpip, score
from unisono.profile.recorded import Profile
from unisono.reading import open_regular


class Importer(Protocol):
    """A module that reads what one other tool writes."""

    NAME: str
    """As the origin of its profiles is called; several modules may read forms of one tool."""
    LABEL: str
    """For people: "mpiP, imported from its report"."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the file is of this format; `head`: its first MiB."""

    def read(self, path: Path) -> Profile:
        """Raises UserError."""


IMPORTERS: tuple[Importer, ...] = (cubex, ipm_xml, mpip, score, ipm)
"""All of them, the surest to recognise first."""
_HEAD = 1 << 20
KNOWN = N_(
    "profile.cubex (Score-P, Scalasca), scorep.score, an mpiP report, IPM's banner or XML, or a profile of Unisono"
)
_IN_DIRECTORY = ("profile.cubex", "summary.cubex", "scout.cubex", "scorep.score")


def import_profile(path: Path) -> Profile:
    """The profile in a file of any known format, or in a directory as Score-P, Scalasca or our recorder left it.

    What the format does not hold is in `notes`. Raises UserError for a file that is unknown, damaged or truncated.
    """
    if path.is_dir():
        path = _in_directory(path)
    profile = _import(path)
    wrong = problem(profile)
    if wrong:
        raise UserError(_("{path}: is damaged: {wrong}").format(path=path, wrong=wrong))
    return profile


def label_of(source: str) -> str | None:
    """For people: the tool from which a profile of this origin came; None: none that is imported."""
    return next((_(importer.LABEL) for importer in IMPORTERS if source == importer.NAME), None)


def _import(path: Path) -> Profile:
    with open_regular(path) as file:
        head = file.read(_HEAD)
    if head.startswith(b"PK\x03\x04"):
        from unisono.profile.file import load

        return load(path)
    if head.startswith(b"UNISONO\1"):
        from unisono.profile.raw import read_raw

        return read_raw(_ranks_of(path))
    for importer in IMPORTERS:
        if importer.recognises(path, head):
            return importer.read(path)
    raise UserError(_("{path}: is in no format that can be read; give {known}").format(path=path, known=_(KNOWN)))


def _ranks_of(path: Path) -> list[Path]:
    """A run that did not end by itself left a file of every rank: one stands for all of them."""
    prefix, mark, _ = path.name.rpartition(".rank")
    if not mark:
        return [path]
    name = re.compile(re.escape(prefix + mark) + r"\d+\.raw")
    return sorted(other for other in path.parent.iterdir() if name.fullmatch(other.name)) or [path]


def _in_directory(path: Path) -> Path:
    for name in _IN_DIRECTORY:
        if (path / name).is_file():
            return path / name
    parts = sorted(path.glob("*.rank*.raw"))
    if parts:
        return parts[0]
    raise UserError(
        _("{path}: is a directory without {in_directory} or scorep.score; give the file itself").format(
            path=path, in_directory=", ".join(_IN_DIRECTORY[:2])
        )
    )
