"""The SQLite database of a study: opened within bounds, one writer at a time, its errors in words."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from unisono.core.errors import UserError
from unisono.core.kinds import mistaken
from unisono.core.language import _
from unisono.core.reading import STUDY_MOST
from unisono.study import rows as kept

FORMAT = "unisono-study"
FORMAT_VERSION = 1

_VALUE_MOST = 512 << 20
"""Bytes of one value. What 100,000 ranks say of themselves is a fifth of it."""
_OF_DAMAGE = ("decode to UTF-8", "no such table", "no such column", "malformed")
"""By which SQLite's errors of a damaged file are told from those of a full or slow disk."""


_SCHEMA = Path(__file__).with_name("schema.sql")


def begin(path: Path, values: Mapping[str, str]) -> None:
    """A study without measurements. Only a complete one ever bears the name: a kill in between leaves nothing that
    looks like one, and a full disk leaves nothing."""
    partial = path.with_suffix(".new")
    partial.unlink(missing_ok=True)
    try:
        with contextlib.closing(sqlite3.connect(partial, isolation_level=None)) as db:
            db.executescript(_SCHEMA.read_text(encoding="utf-8"))
            db.execute("BEGIN")
            db.executemany("INSERT INTO meta VALUES (?, ?)", list(values.items()))
            db.execute("COMMIT")
        partial.rename(path)
    except (sqlite3.Error, OSError):
        partial.unlink(missing_ok=True)
        raise


def connect(path: Path) -> sqlite3.Connection:
    return _bounded(sqlite3.connect(path, isolation_level=None, timeout=10))


def connect_to_read(path: Path) -> sqlite3.Connection:
    return _bounded(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True))


def _bounded(db: sqlite3.Connection) -> sqlite3.Connection:
    if sys.version_info >= (3, 11):
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_MOST)
    return db


def prepare(db: sqlite3.Connection) -> None:
    """For writing."""
    # WAL needs shared memory, which network file systems lack; SQLite then answers "delete" and goes on with that.
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("PRAGMA foreign_keys=ON")
    there = {name for (name,) in db.execute("SELECT name FROM pragma_table_info('sample')")}
    for name, kind in kept.LATER.items():
        if name not in there:
            db.execute(f"ALTER TABLE sample ADD COLUMN {name} {kind}")


def check(db: sqlite3.Connection, path: Path, *, whole: bool) -> None:
    """That it is a study this program reads; `whole`: also that the database is sound, which means reading all of it.
    Raises UserError."""
    try:
        found = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('format', 'format_version')").fetchall())
    except sqlite3.DatabaseError as error:
        damaged = UserError(_("{path}: is not a Unisono study, or is damaged ({error})").format(path=path, error=error))
        raise mistaken(path, "study") or damaged from error
    if found.get("format") != FORMAT:
        raise UserError(_("{path}: is a database of another program, not a Unisono study").format(path=path))
    version = str(found.get("format_version", ""))
    if not re.fullmatch("[1-9][0-9]{0,8}", version):
        raise kept.damaged(path, _("its format_version is no number"))
    if int(version) > FORMAT_VERSION:
        raise UserError(
            _("{path}: was written by a newer Unisono (format {version}); update this one").format(
                path=path, version=version
            )
        )
    kept.check_tables(db, path)
    if whole and (said := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
        raise kept.damaged(path, str(said).splitlines()[0])


def check_is_file(path: Path) -> None:
    """Raises UserError where there is none."""
    if not path.is_file():
        absent = UserError(_("{path}: no such study; `unisono tune` makes one").format(path=path))
        raise mistaken(path, "study") or absent


def check_size(path: Path) -> None:
    """Before it is opened: SQLite would wait for the first bytes of what is a file only by name, as /proc/kmsg is.
    Raises UserError."""
    size = path.stat().st_size
    if size == 0:
        raise UserError(_("{path}: is not a Unisono study ({error})").format(path=path, error=_("it is empty")))
    if size > STUDY_MOST:
        raise UserError(
            _("{path}: has {size:,} bytes; a study has at most {study_most:,}").format(
                path=path, size=size, study_most=STUDY_MOST
            )
        )


def take_lock(path: Path) -> IO[str]:
    """An exclusive lock held while the study is written; the file beside it says who holds it. See `release_lock`."""
    place = _lock_of(path)
    if place.exists() and not place.is_file():
        raise UserError(_("{place}: is no file; remove it").format(place=place))
    while True:
        lock = place.open("a+", errors="replace")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            holder = " ".join(lock.read(200).split()) or _("another process")
            lock.close()
            raise UserError(
                _("{path}: is being written by {holder}; wait for it, or choose another -o DIR").format(
                    path=path, holder=holder
                )
            ) from None
        if _is_the_file(lock, place):
            break
        lock.close()
    lock.truncate(0)
    lock.write(f"process {os.getpid()} on {os.uname().nodename}")
    lock.flush()
    return lock


def release_lock(path: Path, lock: IO[str] | None) -> None:
    """Removes the file while the lock, if there is one, is still held. Whoever opened it before, and gets the lock now,
    sees that the name is gone or another's, and begins anew: never do two believe that they hold it."""
    if lock is None:
        return
    with lock, contextlib.suppress(OSError):  # a folder that is only read from by now
        if _is_the_file(lock, _lock_of(path)):
            _lock_of(path).unlink()


def _lock_of(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _is_the_file(lock: IO[str], place: Path) -> bool:
    """Whether the name still stands for the open file. It is opened for that: NFS may answer a stat from its memory."""
    try:
        with place.open("rb") as named:
            return os.path.samestat(os.fstat(named.fileno()), os.fstat(lock.fileno()))
    except FileNotFoundError:
        return False


def make_folder(folder: Path) -> None:
    """Where a study is to lie. Raises UserError for a file in its place."""
    if folder.exists() and not folder.is_dir():
        raise UserError(_("{path}: is a file; -o DIR names a directory for all outputs").format(path=folder))
    folder.mkdir(parents=True, exist_ok=True)


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """A full disk or a read-only place becomes one clear line; what is in the study stays."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if any(words in str(error) for words in _OF_DAMAGE):
            raise kept.damaged(path, " ".join(str(error).split())[:200]) from error
        sentence = (
            _("{path}: cannot be written: {error}; what was measured so far is kept, continue with --resume")
            if path.exists()
            else _("{path}: cannot be written: {problem}")
        )
        raise UserError(sentence.format(path=path, error=error, problem=error)) from error
    except sqlite3.IntegrityError:
        raise  # a fault of ours, not of the disk
    except (sqlite3.DatabaseError, OverflowError) as error:
        raise kept.damaged(path, str(error)) from error
    except OSError as error:
        raise UserError(f"{error.filename or path}: {error.strerror}") from error
