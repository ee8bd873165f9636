"""The arrays of a profile inside its zip file: .npy without pickle, never larger than promised."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import numpy.typing as npt

from unisono.core.errors import UserError
from unisono.core.language import _

_MAGIC = b"\x93NUMPY\x01\x00"
_BEGIN = 10
"""Bytes of an .npy file before its header: the magic and the header's length."""
_SUSPICIOUS = 64 << 20
_RATIO_MOST = 400
"""Times and bytes of real calls do not shrink this much: above 64 MiB such a member only wants our memory."""


def check_size(info: zipfile.ZipInfo, most: int, where: str) -> None:
    """Raises UserError where a member unpacks to more than `most` bytes, or to far more than it takes on disk."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
        raise UserError(
            _("{where}: {filename} is packed as Unisono never does; the file is damaged or foreign").format(
                where=where, filename=info.filename
            )
        )
    packed_too_well = info.file_size > _SUSPICIOUS and info.file_size > _RATIO_MOST * max(1, info.compress_size)
    if info.file_size > most or packed_too_well:
        raise UserError(
            _("{where}: {filename} would unpack to {file_size:,} bytes; no profile of ours is like that").format(
                where=where, filename=info.filename, file_size=info.file_size
            )
        )


def write_array(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    """Adds `array` as member `name`."""
    with archive.open(name, "w", force_zip64=True) as member:
        np.lib.format.write_array(member, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)


def read_array(archive: zipfile.ZipFile, name: str, dtype: np.dtype[Any], most: int, where: str) -> npt.NDArray[Any]:
    """The one-dimensional array of member `name`: exactly of `dtype`, at most `most` bytes.

    Memory is taken only after header and declared length agree. Raises UserError, and what zipfile raises for damage.
    """
    info = archive.getinfo(name)
    check_size(info, most, where)
    with archive.open(info) as member:
        begin = member.read(_BEGIN)
        length = int.from_bytes(begin[8:10], "little")
        header = member.read(length)
        rows, rest = divmod(info.file_size - _BEGIN - length, dtype.itemsize)
        if begin[:8] != _MAGIC or len(header) < length:
            raise UserError(
                _("{where}: {name} is not an array as Unisono writes it; the file is damaged").format(
                    where=where, name=name
                )
            )
        if rest or rows < 0 or header.split() != _header(dtype, rows).split():
            raise UserError(
                _("{where}: {name} has other rows or columns than it should; the file is damaged").format(
                    where=where, name=name
                )
            )
        raw = np.empty(rows * dtype.itemsize, np.uint8)
        at = 0
        while at < len(raw):
            chunk = member.read(min(1 << 20, len(raw) - at))
            if not chunk:
                raise UserError(_("{where}: {name} ends early; the file is truncated").format(where=where, name=name))
            raw[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
            at += len(chunk)
        member.read(1)  # to its end: only there zipfile compares the checksum
    return raw.view(dtype)


def _header(dtype: np.dtype[Any], rows: int) -> bytes:
    """What numpy writes between length and data, but for the padding.

    Compared, not parsed: a header from a stranger is a Python expression, and its parser has many ways to fail.
    """
    text = io.BytesIO()
    descr = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(text, {"descr": descr, "fortran_order": False, "shape": (rows,)})
    return text.getvalue()[_BEGIN:]
