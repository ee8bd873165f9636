"""Numbers for the page: one document and its columns, deflated and written as base64.

Layout before compression, little-endian: u32 length of the JSON, the JSON (UTF-8), then the columns, each at a
multiple of 8 bytes. The JSON's `columns` say name -> [type, offset from the first column, length]. Nothing of it is
markup, so no name in it can end its script element.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]


def sums(place: npt.NDArray[np.int64], values: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.float64]:
    """`count` sums: of those values that have place 0, 1, ..."""
    return np.asarray(np.bincount(place, values, count), np.float64)


_TYPES = ("u1", "u2", "u4", "f4", "f8")


def whole(values: Column) -> Column:
    """Whole numbers from 0 up in the smallest type that holds them; beyond 32 bits as doubles, exact to 2^53."""
    largest = int(values.max(initial=0))
    for name, most in (("u1", 1 << 8), ("u2", 1 << 16), ("u4", 1 << 32)):
        if largest < most:
            return values.astype(name)
    return values.astype("f8")


def single(values: Column) -> Column:
    """Seconds: seven digits are more than a clock gives."""
    return values.astype("f4")


def pack(document: Mapping[str, Any], columns: Mapping[str, Column]) -> str:
    """Base64 of the deflated whole. Raises ValueError for a column type the page cannot read."""
    index: dict[str, tuple[str, int, int]] = {}
    parts: list[bytes] = []
    offset = 0
    for name, values in columns.items():
        kind = values.dtype.str[1:]
        if kind not in _TYPES:
            raise ValueError(f"{name}: the page cannot read {values.dtype}")
        data = values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes()
        index[name] = (kind, offset, len(values))
        parts.append(data + bytes(-len(data) % 8))
        offset += len(parts[-1])
    head = json.dumps({**document, "columns": index}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    encoded = head.encode("utf-8")
    encoded += b" " * (-(len(encoded) + 4) % 8)
    content = struct.pack("<I", len(encoded)) + encoded + b"".join(parts)
    return base64.b64encode(zlib.compress(content, 6)).decode("ascii")


def unpack(text: str) -> tuple[dict[str, Any], dict[str, Column]]:
    """What `pack` was given: the page's own reading in Python, for whoever wants the numbers back."""
    content = zlib.decompress(base64.b64decode(text))
    (length,) = struct.unpack_from("<I", content)
    document = json.loads(content[4 : 4 + length])
    start = 4 + length
    columns = {
        name: np.frombuffer(content, np.dtype("<" + kind), count, start + offset)
        for name, (kind, offset, count) in document.pop("columns").items()
    }
    return document, columns
