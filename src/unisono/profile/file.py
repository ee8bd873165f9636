"""A profile as one file: a zip of `profile.json` (everything but the arrays) and its .npy arrays."""

from __future__ import annotations

import dataclasses
import json
import math
import zipfile
import zlib
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unisono import __version__
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.reading import open_regular
from unisono.core.toml import explain_validation
from unisono.core.vocabulary import STEP_MOST
from unisono.core.writing import written
from unisono.profile.arrays import check_size, read_array, write_array
from unisono.profile.check import problem
from unisono.profile.recorded import CELL, LATE, PAIR, Cells, Comm, Frame, Origin, Profile, blank
from unisono.profile.recorded import Path as CallPath
from unisono.profile.steps import STEP

FORMAT: Literal["unisono-profile"] = "unisono-profile"
VERSION: Literal[2] = 2
"""Version 1 has no columns about completion in its cells; it is read all the same."""
EXTENSION = ".profile"
DOCUMENT = "profile.json"

_CELL_1 = np.dtype([(name, CELL[name]) for name in CELL.names or () if name not in ("completed", "completion")])
_JSON_MOST = 32 << 20
"""A profile of 100,000 ranks and as many call paths has ten million bytes. Parsed, the most takes 1 GB of memory."""
_CELLS_MOST = 2 << 30
_PAIRS_MOST = 1 << 30
_WALL_MOST = 64 << 20
_MEMBERS_MOST = 16

Index = Annotated[int, Field(ge=-1, le=2**31 - 1)]
Offset = Annotated[int, Field(ge=-1, le=2**63 - 1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class _Origin(_Strict):
    """`Origin`, its NaN spelled null."""

    source: str
    command: str
    created: str
    mpi: str
    ended: str
    hosts: list[str]
    depth: int
    split_waiting: bool
    overhead_ns: float | None
    dropped: int
    as_is: list[float]
    profiled: float | None
    metric: str = ""
    machine: dict[str, str]
    summed: bool


class _Document(_Strict):
    """`profile.json`: the lists are the model's tuples, one short list an entry."""

    format: Literal["unisono-profile"]
    version: Literal[1, 2]
    made_by: str
    origin: _Origin
    functions: list[str]
    frames: list[tuple[str, str, Offset, str, Index, bool, str]]
    paths: list[tuple[Index, Index]]
    comms: list[tuple[Index, Index, Index]]
    phases: list[str]
    notes: list[str]


def save(profile: Profile, path: Path) -> None:
    """Writes a profile; readers see the old file or the whole new one.

    Raises ValueError for a profile that is not sound (an index out of range: an error of the program), UserError where
    the file cannot be written or could not be read again.
    """
    wrong = problem(profile)
    if wrong:
        raise ValueError(f"not a sound profile: {wrong}")
    text = _text(profile).encode("utf-8", "replace")  # names from a symbol table can hold bytes that are no text
    if len(text) > _JSON_MOST:
        raise UserError(
            _(
                "{path}: the names of {frames:,} places and {paths:,} call paths do not fit into a "
                "profile; record fewer frames (--depth)"
            ).format(path=path, frames=len(profile.frames), paths=len(profile.paths))
        )
    with written(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.writestr(DOCUMENT, text)
        write_array(archive, "cells.npy", profile.cells)
        write_array(archive, "pairs.npy", profile.pairs)
        write_array(archive, "wall.npy", profile.wall)
        if len(profile.late):
            write_array(archive, "late.npy", profile.late)
        if len(profile.step):
            write_array(archive, "step.npy", profile.step)


def load(path: Path) -> Profile:
    """The profile in a file. Raises UserError for everything that is not a whole, sound profile of this version."""
    where = str(path)
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            profile = _read(archive, where)
    except OSError as error:
        raise UserError(
            _("{where}: cannot be read: {strerror}").format(where=where, strerror=error.strerror or error)
        ) from error
    except zipfile.BadZipFile as error:
        raise UserError(
            _(
                "{where}: is not a profile, or is damaged ({error}); files of other tools: unisono profile import"
            ).format(where=where, error=error)
        ) from error
    except (zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError) as error:
        # zipfile has no common error for the ways its entries can be wrong (encrypted, unknown method, bad offsets)
        raise UserError(_("{where}: is damaged: {error}").format(where=where, error=error)) from error
    wrong = problem(profile)
    if wrong:
        raise UserError(_("{where}: is damaged: {wrong}").format(where=where, wrong=wrong))
    return profile


def _read(archive: zipfile.ZipFile, where: str) -> Profile:
    names = archive.namelist()
    if DOCUMENT not in names or len(names) > _MEMBERS_MOST:
        raise UserError(
            _("{where}: is a zip file, but not a profile (it has no {document})").format(where=where, document=DOCUMENT)
        )
    missing = [name for name in ("cells.npy", "pairs.npy", "wall.npy") if name not in names]
    if missing:
        raise UserError(_("{where}: has no {missing}; the file is damaged").format(where=where, missing=missing[0]))
    check_size(archive.getinfo(DOCUMENT), _JSON_MOST, where)
    document = _parse(archive.read(DOCUMENT), where)
    given = document.origin.model_dump()
    return Profile(
        origin=Origin(
            **{
                **given,
                "hosts": tuple(given["hosts"]),
                "as_is": tuple(given["as_is"]),
                "overhead_ns": _from_null(given["overhead_ns"]),
                "profiled": _from_null(given["profiled"]),
            }
        ),
        functions=tuple(document.functions),
        frames=tuple(Frame(*entry) for entry in document.frames),
        paths=tuple(CallPath(*entry) for entry in document.paths),
        comms=tuple(Comm(*entry) for entry in document.comms),
        phases=tuple(document.phases),
        cells=_cells(archive, document.version, where),
        wall=read_array(archive, "wall.npy", np.dtype(np.float64), _WALL_MOST, where),
        pairs=read_array(archive, "pairs.npy", PAIR, _PAIRS_MOST, where),
        # Profiles without waiting, and older ones, have none.
        late=read_array(archive, "late.npy", LATE, _PAIRS_MOST, where) if "late.npy" in names else np.zeros(0, LATE),
        step=read_array(archive, "step.npy", STEP, STEP_MOST, where) if "step.npy" in names else np.zeros(0, STEP),
        notes=tuple(document.notes),
    )


def _cells(archive: zipfile.ZipFile, version: int, where: str) -> Cells:
    if version == VERSION:
        return read_array(archive, "cells.npy", CELL, _CELLS_MOST, where)
    old = read_array(archive, "cells.npy", _CELL_1, _CELLS_MOST, where)
    cells = blank(len(old))
    for name in old.dtype.names or ():
        cells[name] = old[name]
    return cells


def _parse(data: bytes, where: str) -> _Document:
    try:
        return _Document.model_validate_json(data)
    except ValidationError as error:
        head = _Head.maybe(data)
        if head is None or head.format != FORMAT:
            raise UserError(
                _("{where}: is not a profile: {document} does not say format {format!r}").format(
                    where=where, document=DOCUMENT, format=FORMAT
                )
            ) from error
        if head.version not in (1, VERSION):
            said = _("{path}: is a profile of version {version}; this Unisono reads version {own}")
            if head.version > VERSION:
                said = _("{path}: is a profile of version {version}; this Unisono reads version {own}: update it")
            raise UserError(said.format(path=where, version=head.version, own=VERSION)) from error
        raise UserError(explain_validation(f"{where}: {DOCUMENT}", error)) from error


class _Head(BaseModel):
    """What tells a foreign or newer document from a damaged one."""

    model_config = ConfigDict(strict=True)
    format: str
    version: int

    @classmethod
    def maybe(cls, data: bytes) -> _Head | None:
        try:
            return cls.model_validate_json(data)
        except ValidationError:
            return None


def _text(profile: Profile) -> str:
    origin = profile.origin
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": f"unisono {__version__}",
        "origin": {
            **dataclasses.asdict(origin),
            "overhead_ns": _to_null(origin.overhead_ns),
            "profiled": _to_null(origin.profiled),
        },
        "functions": profile.functions,
        "frames": [dataclasses.astuple(frame) for frame in profile.frames],
        "paths": [(path.parent, path.frame) for path in profile.paths],
        "comms": [(comm.size, comm.nodes, comm.created) for comm in profile.comms],
        "phases": profile.phases,
        "notes": profile.notes,
    }
    return json.dumps(document, allow_nan=False, separators=(",", ":"), ensure_ascii=False)


def _to_null(value: float) -> float | None:
    return None if math.isnan(value) else value


def _from_null(value: float | None) -> float:
    return math.nan if value is None else value
