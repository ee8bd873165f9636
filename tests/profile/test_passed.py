"""Output that is passed on while it is kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from unisono.profile import passed
from unisono.profile.passed import Passed


def test_all_goes_on_and_is_kept() -> None:
    read, write = os.pipe()
    with Passed(write) as stream:
        subprocess.run([sys.executable, "-c", "print('x' * 5000); print('end')"], stdout=stream.fileno(), check=True)
    os.close(write)
    assert os.read(read, 1 << 16).decode() == stream.text == "x" * 5000 + "\nend\n"
    os.close(read)


def test_nobody_reads_any_more() -> None:
    read, write = os.pipe()
    os.close(read)
    with Passed(write) as stream:
        done = subprocess.run([sys.executable, "-c", "print('x' * 10**6)"], stdout=stream.fileno(), check=False)
    os.close(write)
    assert done.returncode == 0 and len(stream.text) == 10**6 + 1


def test_the_end_is_kept_of_what_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passed, "_MOST", 1000)
    with Path(os.devnull).open("wb") as nowhere, Passed(nowhere.fileno()) as stream:
        subprocess.run([sys.executable, "-c", "print('x' * 9000); print('end')"], stdout=stream.fileno(), check=True)
    assert len(stream.text) == 1000 and stream.text.endswith("x\nend\n")
