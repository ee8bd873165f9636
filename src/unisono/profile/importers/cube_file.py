"""The container of a Cube4 file: a tar of `anchor.xml` (what there is) and per metric `ID.index`, `ID.data` (values).

Read here and not with pycubexr, which asserts on several root call paths and on derived metrics (both usual in files
of Scalasca and of threaded programs) and unpacks compressed values without bounds; it is what the tests compare with.
"""

from __future__ import annotations

import gzip
import io
import os
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.reading import open_regular

_BLOCK = 512
_ANCHOR_MOST = 128 << 20
VALUES_MOST = 1 << 25
"""Call paths x locations of one metric: 256 MB of doubles, of which reading needs about eight."""
_SPARSE = 1
_SCALARS = {
    "UINT64": "u8",
    "INT64": "i8",
    "UNSIGNED INTEGER": "u8",
    "INTEGER": "i8",
    "SIGNED INTEGER": "i8",
    "UINT32": "u4",
    "INT32": "i4",
    "UNSIGNED INT": "u4",
    "INT": "i4",
    "DOUBLE": "f8",
    "FLOAT": "f8",  # eight bytes in spite of its name
    "MINDOUBLE": "f8",
    "MAXDOUBLE": "f8",
}


@dataclass(frozen=True, slots=True)
class Values:
    """What a metric holds: for some call paths, in the metric's own order of them, a value per location."""

    positions: tuple[int, ...]
    rows: npt.NDArray[np.float64]
    """Call paths x locations. Counts above 2^53 lose their last bits."""


class CubeFile:
    """The members of an open Cube file. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self._file: BinaryIO = open_regular(path)
        self._length = os.fstat(self._file.fileno()).st_size
        self._members = self._list()

    def __enter__(self) -> CubeFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def anchor(self) -> bytes:
        """anchor.xml, unpacked where it is packed. Raises UserError where there is none."""
        if "anchor.xml" not in self._members:
            raise UserError(
                _("{where}: has no anchor.xml; it is no Cube file, or is truncated").format(where=self.where)
            )
        data = self._read("anchor.xml", _ANCHOR_MOST)
        if not data.startswith(b"\x1f\x8b"):
            return data
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                unpacked = packed.read(_ANCHOR_MOST + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise UserError(
                _("{where}: anchor.xml is damaged: {error}").format(where=self.where, error=error)
            ) from error
        if len(unpacked) > _ANCHOR_MOST:
            raise UserError(
                _("{where}: anchor.xml would unpack to more than {anchor_most:,} bytes").format(
                    where=self.where, anchor_most=_ANCHOR_MOST
                )
            )
        return unpacked

    def values(self, number: int, name: str, kind: str, paths: int, locations: int) -> Values | None:
        """The values of metric `number`; None where the file has none. `name` is for errors, `kind` its data type.

        Raises UserError, naming the metric, where index and data do not fit `paths` and `locations`.
        """
        index, data = f"{number}.index", f"{number}.data"
        if index not in self._members or data not in self._members:
            return None
        order, positions = self._index(self._read(index, _ANCHOR_MOST), name, paths)
        dtype = _dtype(kind, order)
        if dtype is None:
            raise UserError(
                _("{where}: metric {name} has values of type {kind}, which is not supported").format(
                    where=self.where, name=name, kind=kind
                )
            )
        count = len(positions) * locations
        raw = self._unpacked(self._read(data, count * dtype.itemsize + (1 << 20)), name, order, count * dtype.itemsize)
        if len(raw) != count * dtype.itemsize:
            raise UserError(
                _(
                    "{where}: metric {name} has {count:,} bytes of values instead of {count2:,}; the file is "
                    "damaged or truncated"
                ).format(where=self.where, name=name, count=len(raw), count2=count * dtype.itemsize)
            )
        array: npt.NDArray[Any] = np.frombuffer(raw, dtype)
        scalars = array["sum"] if dtype.names else array
        return Values(positions, scalars.astype(np.float64).reshape(len(positions), locations))

    def _index(self, data: bytes, name: str, paths: int) -> tuple[str, tuple[int, ...]]:
        """Byte order, and the positions of the call paths that have values."""
        head = len(b"CUBEX.INDEX")
        if data[:head] != b"CUBEX.INDEX" or len(data) < head + 7:
            raise UserError(_("{where}: the index of metric {name} is damaged").format(where=self.where, name=name))
        order = "<" if data[head : head + 4] == b"\1\0\0\0" else ">"
        body = data[head + 7 :]
        if data[head + 6] != _SPARSE:
            return order, tuple(range(paths))
        count = struct.unpack(f"{order}I", body[:4])[0] if len(body) >= 4 else -1
        if len(body) != 4 + 4 * count:
            raise UserError(
                _("{where}: the index of metric {name} is damaged or truncated").format(where=self.where, name=name)
            )
        positions = tuple(int(n) for n in np.frombuffer(body[4:], f"{order}u4"))
        if len(set(positions)) != len(positions) or (positions and max(positions) >= paths):
            raise UserError(
                _("{where}: the index of metric {name} names call paths that are not there").format(
                    where=self.where, name=name
                )
            )
        return order, positions

    def _unpacked(self, data: bytes, name: str, order: str, most: int) -> bytes:
        if data.startswith(b"CUBEX.DATA"):
            return data[len(b"CUBEX.DATA") :]
        head = len(b"ZCUBEX.DATA")
        if not data.startswith(b"ZCUBEX.DATA") or len(data) < head + 8:
            raise UserError(_("{where}: the values of metric {name} are damaged").format(where=self.where, name=name))
        chunks = struct.unpack(f"{order}q", data[head : head + 8])[0]
        table = data[head + 8 : head + 8 + 24 * max(0, min(chunks, len(data)))]
        if chunks < 0 or len(table) != 24 * chunks:
            raise UserError(_("{where}: the values of metric {name} are damaged").format(where=self.where, name=name))
        at = head + 8 + len(table)
        parts, length = [], 0
        for size in np.frombuffer(table, f"{order}i8").reshape(-1, 3)[:, 2].tolist():
            if size <= 0:
                continue
            unpacker = zlib.decompressobj()
            try:
                parts.append(unpacker.decompress(data[at : at + size], most - length + 1))
            except zlib.error as error:
                raise UserError(
                    _("{where}: the values of metric {name} are damaged: {error}").format(
                        where=self.where, name=name, error=error
                    )
                ) from error
            length += len(parts[-1])
            if length > most:
                raise UserError(
                    _("{where}: metric {name} would unpack to more values than there are call paths").format(
                        where=self.where, name=name
                    )
                )
            at += size
        return b"".join(parts)

    def _list(self) -> dict[str, tuple[int, int]]:
        """Name -> (offset, length). Checksums are not looked at: CubeLib 4.8 writes wrong ones."""
        members: dict[str, tuple[int, int]] = {}
        at = 0
        while True:
            self._file.seek(at)
            head = self._file.read(_BLOCK)
            if len(head) < _BLOCK or not any(head):
                return members
            name = head[:100].split(b"\0", 1)[0].decode("utf-8", "replace").removeprefix("./")
            size = _octal(head[124:136])
            if size < 0 or at + _BLOCK + size > self._length:
                raise UserError(
                    _("{where}: is truncated or damaged at {name!r}: it ends too early").format(
                        where=self.where, name=name
                    )
                )
            members.setdefault(name, (at + _BLOCK, size))
            at += _BLOCK + -(-size // _BLOCK) * _BLOCK

    def _read(self, name: str, most: int) -> bytes:
        offset, size = self._members[name]
        if size > most:
            raise UserError(
                _("{where}: {name} has {size:,} bytes; at most {most:,} belong there").format(
                    where=self.where, name=name, size=size, most=most
                )
            )
        self._file.seek(offset)
        return self._file.read(size)


def place(values: Values | None, order: Sequence[int], locations: int) -> npt.NDArray[np.float64] | None:
    """Values in the order of call paths' numbers, zero where the file has none. `order`: position -> number."""
    if values is None:
        return None
    placed = np.zeros((len(order), locations))
    placed[[order[position] for position in values.positions]] = values.rows
    return placed


def _dtype(kind: str, order: str) -> np.dtype[Any] | None:
    name = kind.strip().upper()
    if name in _SCALARS:
        return np.dtype(f"{order}{_SCALARS[name]}")
    if name == "TAU_ATOMIC":
        fields = [("n", "u4"), ("min", "f8"), ("max", "f8"), ("sum", "f8"), ("squares", "f8")]
        return np.dtype([(field, f"{order}{type_}") for field, type_ in fields])
    return None


def _octal(field: bytes) -> int:
    """A number field of a tar header; -1 for a damaged one."""
    if field[0] & 0x80:
        return int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
    text = field.split(b"\0", 1)[0].strip()
    return int(text, 8) if text and all(48 <= byte < 56 for byte in text) else -1
