"""The study file: one SQLite database that survives kill -9 at any moment and opens anywhere.

One writer at a time (a lock beside the file says who). A launch's samples and its final status are committed as they
arrive, so nothing measured is lost; a launch that was running when the driver died is found as "running" and is
marked interrupted on resume: its samples stay, and what it still owed is planned again.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sqlite3
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.vocabulary import SIMULATED, Sample, Setting
from unisono.inventory.describe import from_document
from unisono.machine.description import Machine
from unisono.study import database
from unisono.study import rows as kept
from unisono.study.data import ENDED, NEVER, LaunchRow, Refusal, StudyData
from unisono.study.places import OVER_NODES, nodes_share_cpus
from unisono.study.samples import STATISTICS, made

_T = TypeVar("_T")

_ROWS_MOST = 5_000_000
"""Samples of a study take a kilobyte of memory each."""
_PART = 20_000
"""Rows that are checked together."""
_RAW_MOST = 1 << 27


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is kept of one sample beside its raw repetitions; times in seconds."""

    repetitions: int
    discarded: int
    sync: str
    minimum: float
    q1: float
    median: float
    q3: float
    p95: float
    mean: float
    trimmed: float
    correct: bool | None
    state: float | None = None
    condition: str = ""
    """`Condition.key`."""
    inside: float | None = None


class Store:
    """A study on disk. Use as a context manager; `create` and `open` are the ways in."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: IO[str] | None) -> None:
        self.path = path
        self._db = connection
        self._lock = lock

    @classmethod
    def create(
        cls, path: Path, *, name: str, config: str, method: str, machine: Machine, meta: Mapping[str, Any]
    ) -> Store:
        """A new study. Raises UserError when the file exists or the place cannot be written."""
        if path.exists():
            raise UserError(_("{path}: exists; continue it with --resume, or choose another -o DIR").format(path=path))
        with contextlib.ExitStack() as begun, database.disk_errors(path):
            database.make_folder(path.parent)
            lock = database.take_lock(path)
            begun.callback(database.release_lock, path, lock)
            values = {
                "format": database.FORMAT,
                "format_version": str(database.FORMAT_VERSION),
                "id": uuid.uuid4().hex[:12],
                "created": _now(),
                "name": name,
                "config": config,
                "method": method,
                "machine": machine.model_dump_json(),
                **{key: json.dumps(value) for key, value in meta.items()},
            }
            database.begin(path, values)
            db = begun.enter_context(contextlib.closing(database.connect(path)))
            database.prepare(db)
            begun.pop_all()
            return cls(path, db, lock)

    @classmethod
    def open(cls, path: Path, *, write: bool = False) -> Store:
        """An existing study. Raises UserError when it is none, is newer than this program, or is being written."""
        database.check_is_file(path)
        with contextlib.ExitStack() as opened, database.disk_errors(path):
            database.check_size(path)
            lock = database.take_lock(path) if write else None
            opened.callback(database.release_lock, path, lock)
            db = opened.enter_context(
                contextlib.closing(database.connect(path) if write else database.connect_to_read(path))
            )
            database.check(db, path, whole=write)
            if write:
                database.prepare(db)  # not before it is known to be sound: a damaged file is left as it is
            store = cls(path, db, lock)
            opened.pop_all()
            return store

    def close(self) -> None:
        if self._lock is not None and not self._db.in_transaction:
            # One self-contained file that opens anywhere, read-only places included. Not worth failing for.
            with contextlib.suppress(sqlite3.DatabaseError):
                self._db.execute("PRAGMA journal_mode=DELETE")
        self._db.close()
        database.release_lock(self.path, self._lock)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- what the study is ---------------------------------------------------------------------------------------

    def meta(self, key: str) -> str:
        value = self.meta_or_none(key)
        if value is None:
            raise UserError(_("{path}: the study lacks {key!r}; the file is damaged").format(path=self.path, key=key))
        return value

    def meta_or_none(self, key: str) -> str | None:
        rows = self._read("SELECT value FROM meta WHERE key = ?", (key,))
        if rows and not isinstance(rows[0][0], str):
            raise kept.damaged(self.path, _("{key} is no text").format(key=key))
        return rows[0][0] if rows else None

    def value(self, key: str, kind: TypeAdapter[_T]) -> _T:
        """A value that is kept as JSON. Raises UserError where it is missing, or is not of this kind."""
        return kept.parsed(kind, self.meta(key), key, self.path)

    def value_or_none(self, key: str, kind: TypeAdapter[_T]) -> _T | None:
        """The same; None where it is missing."""
        text = self.meta_or_none(key)
        return None if text is None else kept.parsed(kind, text, key, self.path)

    def _word(self, key: str) -> str:
        try:
            return kept.WORD.validate_python(self.meta(key))
        except ValidationError as error:
            raise kept.damaged(self.path, f"{key}: {error.errors()[0]['msg']}") from None

    @property
    def machine(self) -> Machine:
        return from_document(
            self.value("machine", kept.OBJECT),
            f"{self.path}: machine",
            described=self.meta_or_none("imported") is None and self.meta_or_none(SIMULATED) is None,
        )

    @property
    def config(self) -> str:
        """The study file's text, as it was when the study began."""
        return self.meta("config")

    # -- writing -------------------------------------------------------------------------------------------------

    def begin_launch(
        self, setting: Setting, nodes: int, ppn: int, round: int, command: str, oversubscribed: bool
    ) -> int:
        cursor = self._write(
            "INSERT INTO launch (setting, nodes, ppn, round, status, started, command, oversubscribed)"
            " VALUES (?,?,?,?,'running',?,?,?)",
            (setting.key, nodes, ppn, round, _now(), command, int(oversubscribed)),
        )
        return int(cursor.lastrowid or 0)

    def end_launch(
        self,
        launch: int,
        status: str,
        reason: str,
        seconds: float,
        stderr: str = "",
        hello: Mapping[str, Any] | None = None,
    ) -> None:
        """`hello`: what its ranks said. Where they have seen more ranks than CPUs, the launch is oversubscribed."""
        crowded = bool(hello and hello.get("oversubscribed"))
        self._write(
            "UPDATE launch SET status=?, reason=?, seconds=?, stderr=?, hello=?, oversubscribed=max(oversubscribed, ?)"
            " WHERE id=?",
            (status, reason, seconds, stderr[-8192:], json.dumps(hello) if hello else None, crowded, launch),
        )

    def add_sample(
        self, launch: int, collective: str, size: int, setting: Setting, statistics: Statistics, raw: bytes
    ) -> None:
        """One sample; `raw` is the little-endian int64 nanoseconds of every valid repetition, in order."""
        names = [field.name for field in fields(Statistics)]
        self._write(
            f"INSERT INTO sample (launch, collective, size, setting, {', '.join(names)}, raw)"
            f" VALUES ({', '.join('?' * (len(names) + 5))})",
            (launch, collective, size, setting.key, *astuple(statistics), zlib.compress(raw)),
        )

    def add_refusal(self, launch: int, collective: str, size: int, setting: Setting, reason: str) -> None:
        self._write(
            "INSERT OR REPLACE INTO refusal VALUES (?,?,?,?,?)", (launch, collective, size, setting.key, reason)
        )

    def forget_refusals(self, launches: Iterable[int], collective: str, setting: Setting) -> None:
        """What these launches declined is about to be tried again."""
        for launch in launches:
            self._write(
                "DELETE FROM refusal WHERE launch=? AND collective=? AND setting=?", (launch, collective, setting.key)
            )

    def add_limits(self, nodes: int, ppn: int, launch: int, value: Mapping[str, Any]) -> None:
        self._write("INSERT INTO limits VALUES (?,?,?,?)", (nodes, ppn, launch, json.dumps(value)))

    def add_note(self, text: str) -> None:
        self._write("INSERT OR IGNORE INTO note VALUES (?)", (text,))

    def set_meta(self, key: str, value: object) -> None:
        self._write("INSERT OR REPLACE INTO meta VALUES (?,?)", (key, json.dumps(value)))

    def forget_raw(self) -> None:
        """Drops the single repetitions, which are most of a study's size; everything derived from them stays."""
        self._write("UPDATE sample SET raw = ?", (zlib.compress(b""),))
        self._write("VACUUM", ())

    def mark_interrupted(self) -> int:
        """Launches left "running" by a driver that died; returns how many."""
        return self._write(
            "UPDATE launch SET status='interrupted', reason='the driver stopped' WHERE status='running'", ()
        ).rowcount

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Everything written inside is committed at once, or not at all."""
        with database.disk_errors(self.path):
            self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # a full disk has ended it already
                self._db.execute("ROLLBACK")
            raise
        with database.disk_errors(self.path):
            self._db.execute("COMMIT")

    def _write(self, sql: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        with database.disk_errors(self.path):
            return self._db.execute(sql, values)

    # -- reading -------------------------------------------------------------------------------------------------

    def _read(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """Reading, too, needs room beside a study that is being written: the index of its log."""
        with database.disk_errors(self.path):
            rows = self._db.execute(sql, values).fetchmany(_ROWS_MOST + 1)
        if len(rows) > _ROWS_MOST:
            raise self._too_many()
        return rows

    def _too_many(self) -> UserError:
        return UserError(
            _("{path}: holds more than {rows_most:,} rows of a kind, which no study does").format(
                path=self.path, rows_most=_ROWS_MOST
            )
        )

    def _parts(self, table: str, sql: str) -> Iterator[list[Sequence[Any]]]:
        """The same by columns, some rows at a time, checked against what belongs into the table."""
        with database.disk_errors(self.path):
            cursor = self._db.execute(sql)
        count = 0
        while True:
            with database.disk_errors(self.path):
                rows = cursor.fetchmany(_PART)
            if not rows:
                return
            if count + len(rows) > _ROWS_MOST:
                raise self._too_many()
            yield kept.columns(table, rows, self.path, count)
            count += len(rows)

    def _rows(self, table: str, sql: str) -> Iterator[tuple[Any, ...]]:
        for columns in self._parts(table, sql):
            yield from zip(*columns, strict=True)

    def _settings(self) -> Callable[[str], Setting]:
        return functools.cache(lambda key: Setting(kept.setting_values(key, self.path)))

    def launches(self) -> list[LaunchRow]:
        setting = self._settings()
        columns = ", ".join(kept.COLUMNS["launch"])
        return [
            LaunchRow(id, setting(key), nodes, ppn, round, status, reason, seconds, command, bool(oversubscribed))
            for id, key, nodes, ppn, round, status, reason, seconds, command, oversubscribed in self._rows(
                "launch", f"SELECT {columns} FROM launch ORDER BY id"
            )
        ]

    def samples(self) -> list[Sample]:
        there = {name for (name,) in self._read("SELECT name FROM pragma_table_info('sample')")}
        # What an earlier version did not store it did not measure either.
        columns = [name if name in there else {"condition": "''", "inside": "NULL"}[name] for name in STATISTICS]
        sql = (
            f"SELECT s.launch, l.round, s.collective, l.nodes, l.ppn, s.size, s.setting, {', '.join(columns)}"
            " FROM sample s JOIN launch l ON l.id = s.launch ORDER BY s.id"
        )
        return made(self._parts("sample", sql), self._settings(), self.path)

    def hellos(self) -> dict[int, Mapping[str, Any]]:
        """Launch -> what the program said of itself, where it did."""
        rows = self._rows("hello", "SELECT id, hello FROM launch WHERE hello IS NOT NULL")
        return {id: self._object(hello, _("what launch {id} said").format(id=id)) for id, hello in rows}

    def refusals(self) -> list[Refusal]:
        setting = self._settings()
        rows = self._rows("refusal", "SELECT launch, collective, size, setting, reason FROM refusal")
        return [Refusal(launch, name, size, setting(key), reason) for launch, name, size, key, reason in rows]

    def stderr(self, launch: int) -> str:
        rows = self._read("SELECT stderr FROM launch WHERE id=?", (launch,))
        return str(rows[0][0]) if rows else ""

    def raw(self, launch: int, collective: str, size: int, setting: Setting) -> bytes:
        """Little-endian int64 nanoseconds of every valid repetition."""
        rows = self._read(
            "SELECT raw FROM sample WHERE launch=? AND collective=? AND size=? AND setting=?",
            (launch, collective, size, setting.key),
        )
        if not rows:
            raise KeyError((launch, collective, size, setting))
        try:
            return zlib.decompressobj().decompress(rows[0][0], _RAW_MOST)
        except (zlib.error, TypeError) as error:
            raise kept.damaged(
                self.path, _("repetitions of launch {launch}: {error}").format(launch=launch, error=error)
            ) from error

    def limits(self) -> dict[tuple[int, int], Mapping[str, Any]]:
        rows = self._rows("limits", "SELECT nodes, ppn, value FROM limits ORDER BY launch")
        return {
            (nodes, ppn): self._object(value, _("limits of {nodes} x {ppn} ranks").format(nodes=nodes, ppn=ppn))
            for nodes, ppn, value in rows
        }

    def notes(self) -> list[str]:
        return [text for (text,) in self._rows("note", "SELECT text FROM note ORDER BY text")]

    def _object(self, text: str, what: str) -> dict[str, Any]:
        return kept.parsed(kept.OBJECT, text, what, self.path)

    def data(self) -> StudyData:
        weights, scope = self.value("weights", kept.WEIGHTS), self.value("scope", kept.SCOPE)
        return StudyData(
            id=self._word("id"),
            name=self._word("name"),
            created=self._word("created"),
            method=self._word("method"),
            margin=self.value("margin", kept.SHARE),
            confidence=self.value("confidence", kept.SHARE),
            weights=weights,
            machine=self.machine,
            samples=tuple(self.samples()),
            launches=tuple(self.launches()),
            limits=self.limits(),
            refusals=tuple(self.refusals()),
            notes=tuple(self.notes()),
            scope=tuple(scope),
            reproducible=self.value_or_none("reproducible", kept.LEVEL),
            never=kept.words(self.meta_or_none(NEVER), NEVER, self.path),
            ended=self.value_or_none(ENDED, kept.YES),
            nodes_share_cpus=nodes_share_cpus(self._rows("hello", OVER_NODES), self.path),
        )
