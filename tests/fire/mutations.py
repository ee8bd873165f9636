"""Damage: the same for the same seed. Bytes of any file, words of texts, values of JSON, rows and pages of SQLite."""

from __future__ import annotations

import json
import random
import re
import sqlite3
import struct
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import tomli_w

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WORDS = (
    "", "0", "-1", "1", "inf", "-inf", "nan", "1e999", "-1e308", "5e-324", "1e300", "9" * 25, "9" * 5000,
    "99999999999G",
    "0.0M", "1_0", "²", "٣", "é", "\x00", "\x1b[2J", "\r\n", "\ufeff", "[", "{", "]", "}" * 40,
    "[" * 5000, '"', "'", "=",
    ",", ":", "#", "-", "/", "..", "/dev/zero", "*", "@", "true", "null", "a.b" * 50, "9223372036854775807",
    "18446744073709551615", "2147483648", "100000000", "x" * 70000, "0x10", "%n", "{0}", "\\",
)  # fmt: skip
"""What stands in place of a word."""
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 10**25, 2**63, -(2**63), 1e308, 5e-324, -0.0, float("inf"), float("-inf"), float("nan"), "",
    "x", "1", "²", "\x00", "a\nb", "9" * 5000, [], {}, [[]], [None], {"": None}, [1, 2, 3], "x" * 70000,
)  # fmt: skip
"""What stands in place of a JSON value."""
STORED: tuple[Any, ...] = (
    0, -1, 1, 2, 2**62, -(2**63), 2**63 - 1, 1e308, 5e-324, float("inf"), float("-inf"), -1.5, "", "x", "{}", "[]",
    "null", "1", "\x00", "a\nb", '{"pml":1}', '{"pml":"ob1"}', '{"layout":"2x2"}', '{"numa":"far","layout":"1x4"}',
    "[" * 100000, "9" * 5000, b"", b"\xff\xfe", b"\0" * 100, "done", "hung", "bcast", "barrier", "program",
    "race", "hybrid",
)  # fmt: skip
"""What stands in place of a value in a database; NULL besides where a column takes it."""


def damage(path: Path, seed: int) -> None:
    """Changes a file in place, by as much as three changes of one sort."""
    draw = random.Random(seed)
    head = path.read_bytes()[:16]
    how: list[Callable[[Path, random.Random], None]] = [_bytes]
    if head == b"SQLite format 3\0":
        how = [_rows, _rows, _values_within, _pages]
    elif head.startswith(b"PK"):
        how = [_zipped, _zipped, _zipped, _bytes]
    elif path.suffix == ".toml":
        how = [_toml, _toml, _toml, _words, _words, _lines, _bytes]
    elif head[:1] == b"{":
        how = [_json, _json, _words, _bytes]
    elif head.isascii() and b"\0" not in head and not head.startswith((b"PK", b"UNISONO")):
        how = [_words, _words, _words, _lines, _bytes]
    draw.choice(how)(path, draw)


def _bytes(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(max(1, len(data)))
        length = draw.choice((1, 1, 2, 4, 8, 64, 1000))
        kind = draw.randrange(7)
        if kind == 0:
            data[at : at + 1] = bytes([draw.randrange(256)])
        elif kind == 1:
            del data[at : at + length]
        elif kind == 2:
            data[at:at] = data[at : at + length]
        elif kind == 3:
            data[at : at + length] = bytes([draw.choice((0, 255, 127, 128))]) * min(length, len(data) - at)
        elif kind == 4:
            number = draw.choice((0, 1, 2**31 - 1, 2**32 - 1, 2**62, 2**63, 2**64 - 1))
            data[at : at + 8] = number.to_bytes(8, "little")[: len(data) - at]
        elif kind == 5:
            del data[at:]
        else:
            data[at:at] = draw.randbytes(length)
    path.write_bytes(data)


def _words(path: Path, draw: random.Random) -> None:
    pieces = re.split(r"(\s+|[=\[\]{}\",:<>])", path.read_text(errors="replace"))
    for _ in range(draw.randint(1, 3)):
        at = draw.choice([number for number, piece in enumerate(pieces) if piece.strip()] or [0])
        kind = draw.randrange(4)
        if kind < 2:
            pieces[at] = draw.choice(WORDS)
        elif kind == 2:
            pieces[at] = pieces[draw.randrange(len(pieces))]
        else:
            pieces[at] += draw.choice(WORDS)
    path.write_text("".join(pieces), encoding="utf-8", newline="")


def _lines(path: Path, draw: random.Random) -> None:
    lines = path.read_text(errors="replace").splitlines(keepends=True) or [""]
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(lines))
        other = draw.randrange(len(lines))
        kind = draw.randrange(4)
        if kind == 0 and len(lines) > 1:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[other])
        elif kind == 2:
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines[at] = lines[at] * draw.choice((2, 50))
    path.write_text("".join(lines), encoding="utf-8", newline="")


def _json(path: Path, draw: random.Random) -> None:
    document = json.loads(path.read_text())
    for _ in range(draw.randint(1, 3)):
        document = _changed(document, draw)
    path.write_text(json.dumps(document))


def _toml(path: Path, draw: random.Random) -> None:
    """Values of a document that is written again as it should be: most other damage is refused before any is read."""
    text = path.read_text()
    changes = draw.randint(1, 3)
    while changes:
        with suppress(AttributeError, TypeError):  # TOML has no null, and a document is a table
            text = tomli_w.dumps(_changed(tomllib.loads(text), draw))
            changes -= 1
    path.write_text(text, encoding="utf-8", newline="")


def _zipped(path: Path, draw: random.Random) -> None:
    """A member of a profile, packed again as it should be: a value of the document, a number of an array."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = draw.choice(["profile.json", "profile.json", *sorted(members)])
    if name.endswith(".json"):
        document = json.loads(members[name])
        for _ in range(draw.randint(1, 3)):
            document = _changed(document, draw)
        members[name] = json.dumps(document).encode()
    else:
        data = bytearray(members[name])
        at = draw.randrange(128, max(129, len(data)), 4) if len(data) > 136 else 0
        data[at : at + 8] = draw.choice(_NUMBERS)
        members[name] = bytes(data)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)


_NUMBERS = (
    *(struct.pack("<d", value) for value in (float("inf"), float("-inf"), float("nan"), -1.0, 1e308, 5e-324, 0.0)),
    *(struct.pack("<q", value) for value in (0, -1, -2, 1, 2**31 - 1, 2**62, -(2**63))),
)


def _changed(value: Any, draw: random.Random) -> Any:
    """The same with one value in it replaced, taken away or doubled."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(sorted(value))
        rest = dict(value)
        kind = draw.randrange(12)
        if kind == 0:
            del rest[key]
        elif kind == 1:
            rest[draw.choice(("", "x", key + "_"))] = rest[key]
        else:
            rest[key] = _changed(value[key], draw)
        return rest
    if isinstance(value, list) and value and draw.random() < 0.9:
        at = draw.randrange(len(value))
        kind = draw.randrange(8)
        if kind == 0:
            return value[:at] + value[at + 1 :]
        if kind == 1:
            return [*value, value[at]]
        return [*value[:at], _changed(value[at], draw), *value[at + 1 :]]
    return draw.choice(VALUES)


def _rows(path: Path, draw: random.Random) -> None:
    """Values of rows, rows, columns, tables: what a database takes without a word."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA foreign_keys=OFF")
    db.execute("PRAGMA ignore_check_constraints=ON")
    for _ in range(draw.randint(1, 3)):
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table' AND rootpage > 0")]
        if not tables:
            break
        table = draw.choice(tables)
        columns = [row[1] for row in db.execute(f"PRAGMA table_info('{table}')")]
        column, condition = draw.choice(columns), draw.choice(("1", "1", "rowid % 3 = 0"))
        if table == "meta":
            column = "value"
            condition = f"key = '{draw.choice(_META)}'"
        kind = draw.randrange(12)
        try:
            if kind == 0:
                db.execute(f"DELETE FROM {table} WHERE {condition}")
            elif kind == 1:
                db.execute(
                    draw.choice(
                        (
                            f"DROP TABLE {table}",
                            f"ALTER TABLE {table} RENAME TO other",
                            f"ALTER TABLE {table} RENAME COLUMN {column} TO other",
                        )
                    )
                )
            elif kind == 2:
                db.execute(f"CREATE TRIGGER fire AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END")
            else:
                db.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {condition}", (draw.choice(STORED),))
        except sqlite3.Error:
            pass
    db.close()


def _values_within(path: Path, draw: random.Random) -> None:
    """A value inside one of the JSON texts, and a text that is no UTF-8."""
    db = sqlite3.connect(path, isolation_level=None)
    table, column, key = draw.choice(_TEXTS)
    where = f"{key[0]} = '{key[1]}'" if key else "1"
    rows = db.execute(f"SELECT rowid, {column} FROM {table} WHERE {where} LIMIT 5").fetchall() if not key else [
        (None, *row) for row in db.execute(f"SELECT {column} FROM {table} WHERE {where}")
    ]  # fmt: skip
    for number, text in rows[: draw.randint(1, 5)]:
        new: Any
        if draw.random() < 0.1:
            new = b"\xff\xfe\xfd"
        else:
            try:
                new = json.dumps(_changed(json.loads(text), draw))
            except (TypeError, ValueError):
                new = draw.choice(STORED)
        at = where if key else f"rowid = {number}"
        cast = "CAST(? AS TEXT)" if isinstance(new, bytes) else "?"
        db.execute(f"UPDATE OR IGNORE {table} SET {column} = {cast} WHERE {at}", (new,))
    db.close()


_META = (
    "format", "format_version", "id", "created", "name", "config", "method", "machine", "margin", "confidence",
    "weights",
    "scope", "ours", "metric", "verification",
)  # fmt: skip
_TEXTS: tuple[tuple[str, str, tuple[str, str] | None], ...] = (
    *(("meta", "value", ("key", key)) for key in _META[5:]),
    *(("meta", "value", ("key", key)) for key in ("machine", "verification", "config", "ours")),
    ("launch", "setting", None), ("launch", "hello", None), ("launch", "hello", None), ("sample", "setting", None),
    ("limits", "value", None), ("limits", "value", None), ("refusal", "setting", None),
)  # fmt: skip


def _pages(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    size = 4096
    for _ in range(draw.randint(1, 3)):
        page = draw.randrange(max(1, len(data) // size)) * size
        kind = draw.randrange(5)
        if kind == 0:
            data[page : page + size] = bytes(size)
        elif kind == 1:
            other = draw.randrange(max(1, len(data) // size)) * size
            data[page : page + size] = data[other : other + size]
        elif kind == 2:
            del data[page:]
        else:
            at = page + draw.choice((draw.randrange(16), draw.randrange(100), draw.randrange(size)))
            data[at : at + 1] = bytes([draw.randrange(256)])
    path.write_bytes(data)
