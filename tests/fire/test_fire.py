"""Damaged and hostile files: each is read, or refused in one clear line; nothing hangs, nothing takes all memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fire.originals import ORIGINALS

ROOT = Path(__file__).parents[2]


def fire(folder: Path, first: int, count: int, *kinds: str, timeout: float) -> None:
    """So many damaged files, of every kind unless some are named, in a process with little memory."""
    argv = [sys.executable, "-m", "tests.fire.runner", str(folder), str(first), str(count), *kinds]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    *failures, outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    shown = [f"{one['kind']}, seed {one['seed']}: {one['what']}" for one in failures[:5]]
    assert not failures, f"{len(failures)} of {count} were neither read nor refused:\n" + "\n".join(shown)
    noticed = outcomes.get("refused", 0) + outcomes.get("otherwise", 0)
    assert min(outcomes["read"], noticed) > count / 20, outcomes  # else the damage is none, or too much
    print(f"{count} damaged files: {outcomes}")  # noqa: T201 - how many there were


def test_damaged_files_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    fire(tmp_path / "fire", 0, 2 * len(ORIGINALS), timeout=250)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", sorted(ORIGINALS))
def test_many_damaged_files(tmp_path: Path, kind: str) -> None:
    """Other ones every night."""
    seed = int(os.environ.get("UNISONO_SEED", "1")) * 1000
    fire(tmp_path / "fire", seed, 1000, kind, timeout=3500)
