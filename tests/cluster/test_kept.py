"""`unisono vcluster`: the cluster that stays up between commands."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.conftest import MakeCluster
from tests.cluster.test_vc import alive
from unisono.core.errors import UserError
from unisono.vcluster import cluster as virtual
from unisono.vcluster import kept

PATIENCE = 60.0
KILLED_WHILE_STARTING = """
import os
from unisono.vcluster import kept
kept.wait_until_ready = lambda outer: os.kill(os.getpid(), 9)
kept.up(2, 1, None, [])
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """run(PYTHON WORDS...): a cluster of this test alone, which ends with it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        return subprocess.run(
            [sys.executable, *words], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    yield run
    kept.down()


@pytest.mark.cluster
def test_it_stays_up_is_used_and_leaves_nothing_even_when_killed(
    run: Run, cluster: MakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster(nodes=1).close()  # skips where clusters cannot be made
    folder = str(kept.directory())
    ours = ("-m", "unisono.cli", "vcluster")

    assert run("-c", KILLED_WHILE_STARTING).returncode == -signal.SIGKILL
    assert alive(folder)
    assert not kept.is_up()
    done = run(*ours, "up", "--nodes", "2", "--ppn", "3", "--rate", "100mbit", "--slow", "node1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "n0:3,n1:3" in done.stdout

    asked = "hostname; tc qdisc show dev v0; tc qdisc show dev v1; cat $PRTE_MCA_prte_default_hostfile; exit 3"
    done = run(*ours, "run", "--", "sh", "-c", asked)
    assert done.returncode == 3, done.stderr
    name, fast, slow, *slots = done.stdout.splitlines()
    assert name == "login"
    assert ("rate 100Mbit" in fast, "rate 50Mbit" in slow) == (True, True)
    assert slots == ["n0 slots=3", "n1 slots=3"]
    with pytest.raises(UserError, match="is up already"):
        kept.up(2, 1, None, [])

    monkeypatch.setattr(virtual, "_HERE", Path("/another/installation"))
    assert kept.down()
    assert alive(folder) == []
    assert list(Path(folder).parent.iterdir()) == []
    assert run("-c", KILLED_WHILE_STARTING).returncode == -signal.SIGKILL
    assert kept.down()
    assert alive(folder) == []
    assert list(Path(folder).parent.iterdir()) == []
    assert not kept.down()


@pytest.mark.parametrize(
    ("rate", "slow", "said"),
    [
        ("fast", [], "write for example 1gbit"),
        ("0gbit", [], "write for example 1gbit"),
        (None, ["n1"], "say --rate too"),
        ("1gbit", ["n4"], "there are n0 to n3"),
        ("1gbit", ["login"], "there are n0 to n3"),
    ],
)
def test_what_cannot_be_is_said_before_anything_starts(run: Run, rate: str | None, slow: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        kept.up(4, 2, rate, slow)
    assert not kept.directory().exists()


def test_another_users_directory_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    kept.directory().symlink_to(tmp_path / "mine")
    with pytest.raises(UserError, match="not a directory of yours"):
        kept.up(1, 1, None, [])
    assert (tmp_path / "mine").exists()
    kept.directory().unlink()


def test_without_a_cluster_run_says_how_to_begin(run: Run) -> None:
    with pytest.raises(UserError, match="unisono vcluster up"):
        kept.found()
