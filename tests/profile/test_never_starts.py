"""A launcher that starts nothing and stays: Hydra waits for ever for a node that it cannot reach."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.commands.program import PROGRAM

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
BUILD, SECONDS = 240, 60
"""Seconds for the recorder to be built, where it is not yet, and for everything else."""


def test_ctrl_c_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    """What the launcher was told on the way stays the user's to read, and is our reason too."""
    mpirun, mpicc = shutil.which("mpirun.mpich"), shutil.which("mpicc.mpich")
    if mpirun is None or mpicc is None:
        pytest.skip("mpirun.mpich is not here: apt-get install mpich libmpich-dev")
    tried, reach = tmp_path / "tried", tmp_path / "reach"
    reach.write_text(
        f"#!/bin/sh\necho 'ssh: Could not resolve hostname nowhere: no such name' >&2\n: > {tried}\nexit 255\n"
    )
    reach.chmod(0o755)
    line = [mpirun, "-launcher", "ssh", "-launcher-exec", str(reach), "-hosts", "nowhere", "-n", "2", sys.executable]
    process = subprocess.Popen(
        [str(PROGRAM), "profile", "-o", "p.uprof", "--mpicc", mpicc, "--", *line],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + BUILD
        while not tried.exists() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.05)
        time.sleep(0.5)
        assert process.poll() is None, "Hydra ends by itself: what this test is about is over"
        process.send_signal(signal.SIGINT)
        _out, error = process.communicate(timeout=SECONDS)
        left = subprocess.run(
            ["ps", "-o", "args=", "-s", str(process.pid)], capture_output=True, text=True, check=False
        )
    finally:
        process.kill()
    assert process.returncode not in (0, None)
    assert "unisono: nothing was recorded: host nowhere is not known" in error, error
    assert left.stdout.split() == []
    assert sorted(file.name for file in tmp_path.iterdir()) == ["reach", "tried"]
