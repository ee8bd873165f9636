"""The lock of a study: one writer at a time, and no file left where the last one has ended."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from unisono.core.errors import UserError
from unisono.study import database


def test_it_is_gone_when_the_writer_has_ended(tmp_path: Path) -> None:
    study, file = tmp_path / "study.db", tmp_path / "study.db.lock"
    lock = database.take_lock(study)
    assert file.read_text() == f"process {os.getpid()} on {os.uname().nodename}"
    with pytest.raises(UserError, match=rf"is being written by process {os.getpid()} on"):
        database.take_lock(study)
    assert file.exists(), "who was refused leaves it alone"
    database.release_lock(study, lock)
    assert list(tmp_path.iterdir()) == []


def test_what_was_opened_before_it_was_removed_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the next one would make a file of the name, lock that, and write too."""
    study = tmp_path / "study.db"
    first, flock = database.take_lock(study), fcntl.flock

    def late(file: int, operation: int) -> None:
        if not first.closed:
            database.release_lock(study, first)
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    second = database.take_lock(study)
    with pytest.raises(UserError, match="is being written by"):
        database.take_lock(study)
    database.release_lock(study, second)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_of_another_is_not_removed(tmp_path: Path) -> None:
    """Somebody removed ours by hand, and another writer began."""
    study, file = tmp_path / "study.db", tmp_path / "study.db.lock"
    first = database.take_lock(study)
    file.unlink()
    second = database.take_lock(study)
    database.release_lock(study, first)
    assert file.exists()
    database.release_lock(study, second)
    assert not file.exists()


_WRITER = """
import os, sys, time
from pathlib import Path
from unisono.core.errors import UserError
from unisono.study import database
study, held = Path(sys.argv[1]), Path(sys.argv[1] + ".held")
end, had = time.monotonic() + 2, 0
while time.monotonic() < end:
    try:
        lock = database.take_lock(study)
    except UserError:
        continue
    os.close(os.open(held, os.O_CREAT | os.O_EXCL))  # FileExistsError: another holds it as well
    held.unlink()
    database.release_lock(study, lock)
    had += 1
print(had)
"""


def test_never_two_at_once(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path / "study.db")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _number in range(4)
    ]
    had = 0
    for writer in writers:
        out, error = writer.communicate(timeout=60)
        assert writer.returncode == 0, error
        had += int(out)
    assert had > 0
    assert list(tmp_path.iterdir()) == []
