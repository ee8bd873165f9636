"""Which format a file is, by its content; never by its name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

from unisono.core.errors import UserError
from unisono.core.kinds import mistaken
from unisono.core.language import _
from unisono.core.reading import open_regular
from unisono.profile.check import problem
from unisono.profile.importers import cubex, ipm, ipm_xml, mpip, score
from unisono.profile.recorded import Profile


class Importer(Protocol):
    """A module that reads what one other tool writes."""

    NAME: str
    """As the origin of its profiles is called; several modules may read forms of one tool."""
    LABEL: str
    """For people: "mpiP, imported from its report"."""
    GIVEN_AS: str
    """For people: what to name on the command line."""
    IN_DIRECTORY: tuple[str, ...]
    """What the tool calls the file in a directory that it makes for each run, if it makes one."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the file is of this format; `head`: its first MiB."""

    def read(self, path: Path) -> Profile:
        """Raises UserError."""


IMPORTERS: tuple[Importer, ...] = (cubex, ipm_xml, mpip, score, ipm)
"""All of them, the surest to recognise first."""
_HEAD = 1 << 20


def import_profile(path: Path) -> Profile:
    """The profile in a file of any known format, or in a directory as Score-P, Scalasca or our recorder left it.

    What the format does not hold is in `notes`. Raises UserError for a file that is unknown, damaged or truncated.
    """
    if path.is_dir():
        path = _in_directory(path)
    if not path.exists() and not path.is_symlink():
        raise UserError(
            _("{path}: there is no such file; unisono profile writes a profile, into unisono-out/app.profile").format(
                path=path
            )
        )
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
    unknown = UserError(
        _("{path}: is in no format that can be read; give {known}, or a profile of Unisono").format(
            path=path, known=readable()
        )
    )
    raise mistaken(path, "profile") or unknown


def readable() -> str:
    """For people: the files of other tools that can be read."""
    return ", ".join(_(importer.GIVEN_AS) for importer in IMPORTERS)


def _ranks_of(path: Path) -> list[Path]:
    """A run that did not end by itself left a file of every rank: one stands for all of them."""
    prefix, mark, _ = path.name.rpartition(".rank")
    if not mark:
        return [path]
    name = re.compile(re.escape(prefix + mark) + r"\d+\.raw")
    return sorted(other for other in path.parent.iterdir() if name.fullmatch(other.name)) or [path]


def _in_directory(path: Path) -> Path:
    for name in _in_directories():
        if (path / name).is_file():
            return path / name
    parts = sorted(path.glob("*.rank*.raw"))
    if parts:
        return parts[0]
    nothing = UserError(
        _("{path}: is a directory without any of {files}; give the file itself").format(
            path=path, files=", ".join(_in_directories())
        )
    )
    raise mistaken(path, "profile") or nothing


def title_of(path: Path) -> str:
    """What to call a profile: its file without extension; the directory, where a tool names all files alike."""
    whole = path.resolve()
    if whole.is_dir():
        return whole.name
    return whole.parent.name if whole.name in _in_directories() else whole.stem


def _in_directories() -> list[str]:
    """What tools call the file in a directory of their own, in the order in which it is looked for."""
    return [name for importer in IMPORTERS for name in importer.IN_DIRECTORY]
