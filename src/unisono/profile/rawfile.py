"""The file libunisono.so writes, as it is: parts, one a rank, of tagged sections. Nothing is merged or named here."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.reading import RECORDING_MOST, read_bytes

MAGIC = b"UNISONO\1"
RANKS_MOST = 1 << 20
"""More than any machine has: a file that says so is damaged, and would only take our memory."""
_FRAMES_MOST = 16
_HEADER = struct.Struct("<4sIQ")
_JSON_MOST = 64 << 20

RAW_CELL = np.dtype(
    [
        ("path", "<u4"),
        ("function", "<u2"),
        ("phase", "<u2"),
        ("comm", "<i4"),
        ("flags", "<u4"),
        ("size_min", "<i8"),
        ("size_max", "<i8"),
        ("size_sum", "<u8"),
        ("calls", "<u8"),
        ("sent", "<i8"),
        ("received", "<i8"),
        ("time", "<u8"),
        ("time_min", "<u8"),
        ("time_max", "<u8"),
        ("waiting", "<i8"),
    ]
)
"""A section CELL is rows of this; times in ns, -1 where not known."""
RAW_COMPLETION = np.dtype([("cell", "<u4"), ("zero", "<u4"), ("calls", "<u8"), ("time", "<u8")])
"""A section DONE is rows of this, in ns. `cell` is a row of CELL: of a nonblocking collective those of its calls that
are complete, and how long the program waited for them in other calls; of a call that completes requests the
nonblocking collectives that it completed, and the part of its time that is theirs."""
RAW_PAIR = np.dtype([("target", "<i4"), ("zero", "<u4"), ("calls", "<u8"), ("bytes", "<u8")])
RAW_MESSAGE = np.dtype(
    [
        ("posted", "<u8"),
        ("begin", "<u8"),
        ("end", "<u8"),
        ("comm", "<u8"),
        ("bytes", "<u8"),
        ("cell", "<u4"),
        ("peer", "<i4"),
        ("tag", "<i4"),
        ("kind", "<u4"),
    ]
)
"""A section MSGS is rows of this; times in ns of the node's clock. `cell` is the row of CELL of the call that completed
the message in begin to end, 0xffffffff where there is none; `bytes` are those sent, of a receive 0."""
OPEN = -2
"""A `peer`: of a receive from any source, or with any tag, of which it is not known what it got."""
CANCELLED = -3
"""A `peer`: there was no message."""
SEND, RECEIVE = 0, 1
"""Values of `kind`."""

_TAGS = (b"RANK", b"MODS", b"FUNC", b"PATH", b"COMM", b"PHAS", b"CELL", b"PAIR")
_OPTIONAL = (b"MSGS", b"DONE")


@dataclass(frozen=True)
class Part:
    """What one rank wrote."""

    rank: int
    ranks: int
    about: dict[str, Any]
    """The whole section RANK."""
    modules: tuple[tuple[str, int, int], ...]
    """(path, base, end) of what was in memory: address - base is the address in the file."""
    functions: tuple[str, ...]
    starts: npt.NDArray[np.int64]
    """Path p has the return addresses frames[starts[p]:starts[p + 1]], innermost first."""
    frames: npt.NDArray[np.uint64]
    comms: tuple[tuple[int, int, int], ...]
    """(size, nodes, created)."""
    phases: tuple[str, ...]
    cells: npt.NDArray[np.void]
    pairs: npt.NDArray[np.void]
    messages: npt.NDArray[np.void]
    """Empty without --split-waiting."""
    completions: npt.NDArray[np.void] | None
    """None in a file of a library that did not look for them."""

    def number(self, name: str, default: int = 0) -> int:
        """A whole number of section RANK."""
        value = self.about.get(name, default)
        return value if isinstance(value, int) else default

    def text(self, name: str) -> str:
        """A text of section RANK."""
        value = self.about.get(name, "")
        return value if isinstance(value, str) else ""


def read_parts(path: Path) -> list[Part]:
    """All parts of one file. Raises UserError where it cannot be read, is none of ours, or is cut off or damaged."""
    data = read_bytes(path, RECORDING_MOST)
    if data[: len(MAGIC)] != MAGIC:
        if not data:
            raise UserError(_("{path}: is empty").format(path=path))
        raise UserError(_("{path}: was not written by libunisono.so, or by another version of it").format(path=path))
    view = memoryview(data)
    parts: list[Part] = []
    at = len(MAGIC)
    while at < len(view):
        sections, at = _sections(view, at, path)
        parts.append(_part(sections, _("{path}, part {number}").format(path=path, number=len(parts) + 1)))
    if not parts:
        raise UserError(_("{path}: holds no rank's part; the program ended while it was written").format(path=path))
    return parts


def _sections(view: memoryview, at: int, path: Path) -> tuple[dict[bytes, memoryview], int]:
    """Tag -> payload up to END, and where the next part begins. Unknown tags are those of a later version: skipped."""
    found: dict[bytes, memoryview] = {}
    while True:
        if at + _HEADER.size > len(view):
            raise UserError(
                _("{path}: ends in the middle of a rank's part; the program was killed while writing it").format(
                    path=path
                )
            )
        tag, _flags, length = _HEADER.unpack_from(view, at)
        at += _HEADER.size
        if length > len(view) - at:
            raise UserError(
                _("{path}: section {tag} is longer than the file; it is cut off or damaged").format(
                    path=path, tag=_printable(tag)
                )
            )
        if tag == b"END ":
            return found, at + -(-length // 8) * 8
        if tag in _TAGS or tag in _OPTIONAL:
            if tag in found:
                raise UserError(
                    _("{path}: section {tag} appears twice in a part; the file is damaged").format(
                        path=path, tag=_printable(tag)
                    )
                )
            found[tag] = view[at : at + length]
        at += -(-length // 8) * 8


def _printable(tag: bytes) -> str:
    return repr(tag.decode("ascii", "replace"))


def _part(sections: dict[bytes, memoryview], where: str) -> Part:
    missing = [_printable(tag) for tag in _TAGS if tag not in sections]
    if missing:
        raise UserError(
            _("{where}: has no section {missing}; the file is damaged").format(where=where, missing=missing[0])
        )
    about = _json(sections[b"RANK"], where, "RANK")
    if not isinstance(about, dict):
        raise UserError(_("{where}: section 'RANK' is not an object; the file is damaged").format(where=where))
    rank, ranks = about.get("rank"), about.get("ranks")
    if type(rank) is not int or type(ranks) is not int or not 0 <= rank < ranks <= RANKS_MOST:
        raise UserError(
            _("{where}: rank {rank!r} of {ranks!r} cannot be; the file is damaged").format(
                where=where, rank=rank, ranks=ranks
            )
        )
    starts, frames = _paths(sections[b"PATH"], where)
    part = Part(
        rank=rank,
        ranks=ranks,
        about=about,
        modules=tuple(_modules(sections[b"MODS"], where)),
        functions=_names(sections[b"FUNC"], where, "FUNC"),
        starts=starts,
        frames=frames,
        comms=tuple(_comms(sections[b"COMM"], where)),
        phases=_names(sections[b"PHAS"], where, "PHAS"),
        cells=_rows(sections[b"CELL"], RAW_CELL, where, "CELL"),
        pairs=_rows(sections[b"PAIR"], RAW_PAIR, where, "PAIR"),
        messages=_rows(sections.get(b"MSGS", memoryview(b"")), RAW_MESSAGE, where, "MSGS"),
        completions=_rows(sections[b"DONE"], RAW_COMPLETION, where, "DONE") if b"DONE" in sections else None,
    )
    _check(part, where)
    return part


def _json(payload: memoryview, where: str, tag: str) -> Any:
    if len(payload) > _JSON_MOST:
        raise UserError(
            _("{where}: section '{tag}' has {count:,} bytes; no rank writes that much").format(
                where=where, tag=tag, count=len(payload)
            )
        )
    try:
        return json.loads(bytes(payload).decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise UserError(
            _("{where}: section '{tag}' is not JSON ({error}); the file is damaged").format(
                where=where, tag=tag, error=error
            )
        ) from error


def _names(payload: memoryview, where: str, tag: str) -> tuple[str, ...]:
    names = _json(payload, where, tag)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or names[:1] != [""]:
        raise UserError(
            _("{where}: section '{tag}' is not a list of names that begins with an empty one").format(
                where=where, tag=tag
            )
        )
    return tuple(names)


def _records(payload: memoryview, where: str, tag: str, kinds: dict[str, type[Any]]) -> list[tuple[Any, ...]]:
    """A list of objects as tuples of these members. Numbers fit into 64 bits with their sign."""
    found = _json(payload, where, tag)
    out = []
    for entry in found if isinstance(found, list) else [None]:
        values = tuple(entry.get(name) for name in kinds) if isinstance(entry, dict) else ()
        right = len(values) == len(kinds) and all(
            type(value) is kind and (not isinstance(value, int) or -(1 << 63) <= value < 1 << 63)
            for value, kind in zip(values, kinds.values(), strict=True)
        )
        if not right:
            raise UserError(
                _("{where}: section '{tag}' is not a list of {{{kinds}}}; the file is damaged").format(
                    where=where, tag=tag, kinds=", ".join(kinds)
                )
            )
        out.append(values)
    return out


def _modules(payload: memoryview, where: str) -> list[tuple[str, int, int]]:
    return [
        (path, base, end)
        for path, base, end in _records(payload, where, "MODS", {"path": str, "base": int, "end": int})
    ]


def _comms(payload: memoryview, where: str) -> list[tuple[int, int, int]]:
    return [
        (size, nodes, created)
        for size, nodes, created in _records(payload, where, "COMM", {"size": int, "nodes": int, "created": int})
    ]


def _paths(payload: memoryview, where: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Each path is its length, then its addresses: all 8 bytes wide."""
    if len(payload) % 8:
        raise UserError(
            _("{where}: section 'PATH' ends in the middle of an address; the file is damaged").format(where=where)
        )
    words = np.frombuffer(payload, "<u8")
    counts = words.tolist()
    heads = []
    at = 0
    while at < len(counts):
        if counts[at] > _FRAMES_MOST or at + counts[at] >= len(counts):
            raise UserError(
                _("{where}: a call path of section 'PATH' has no end; the file is damaged").format(where=where)
            )
        heads.append(at)
        at += 1 + counts[at]
    if not heads or counts[0] != 0:
        raise UserError(
            _("{where}: section 'PATH' does not begin with the empty path; the file is damaged").format(where=where)
        )
    place = np.asarray([*heads, len(counts)], np.int64)
    starts = place - np.arange(len(place))
    frames = np.delete(words, heads).astype(np.uint64)
    return starts, frames


def _rows(payload: memoryview, dtype: np.dtype[Any], where: str, tag: str) -> npt.NDArray[np.void]:
    if len(payload) % dtype.itemsize:
        raise UserError(
            _("{where}: section '{tag}' ends in the middle of a row; the file is damaged").format(where=where, tag=tag)
        )
    return np.frombuffer(payload, dtype)


def _check(part: Part, where: str) -> None:
    """Every index leads somewhere."""
    cells = part.cells
    for name, low, end in (
        ("path", 0, len(part.starts) - 1),
        ("function", 1, len(part.functions)),
        ("phase", 0, len(part.phases)),
        ("comm", -1, len(part.comms)),
    ):
        column = cells[name].astype(np.int64)
        if np.any((column < low) | (column >= end)):
            raise UserError(
                _("{where}: a row names a {name} that is not there; the file is damaged").format(where=where, name=name)
            )
    if np.any((part.pairs["target"] < 0) | (part.pairs["target"] >= part.ranks)):
        raise UserError(
            _("{where}: a message went to a rank that is not there; the file is damaged").format(where=where)
        )
    if part.completions is not None and np.any(part.completions["cell"] >= len(cells)):
        raise UserError(
            _("{where}: a completion names a row that is not there; the file is damaged").format(where=where)
        )
    log = part.messages
    lost = (log["cell"] >= len(cells)) & (log["cell"] != 0xFFFFFFFF)
    if np.any(lost | (log["kind"] > RECEIVE) | (log["peer"] >= part.ranks)):
        raise UserError(
            _("{where}: a logged message names a row, kind or rank that is not there; the file is damaged").format(
                where=where
            )
        )
    if np.any((log["end"] > 0) & (log["end"] < log["begin"])) or np.any(log["end"] >> 63):
        raise UserError(_("{where}: a logged message ends before it begins; the file is damaged").format(where=where))
