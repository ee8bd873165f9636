"""A warning where others use the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import Refuses
from tests.tuning.samples import plan, tuning
from unisono.commands.busy import warn_where_busy
from unisono.tuning.document import write


@pytest.mark.parametrize(("load", "cpus", "said"), [(2.2, 2, True), (0.4, 2, False), (2.2, 8, False), (0.6, 0, True)])
def test_it_is_said_by_the_load_of_each_cpu(
    load: float, cpus: int, said: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, 9.0, 9.0))
    assert warn_where_busy(cpus) == (load if said else 0.0)
    assert ("Other programs are using this machine (load average" in capsys.readouterr().err) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--runs", "2"], "runs: 2 are too few"), (["--metric", "no group"], "has 0 groups"), (["--timeout", "x"], "x")],
)
def test_it_is_not_said_where_the_command_line_is_refused(
    words: list[str], said: str, tmp_path: Path, refuses: Refuses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (99.0, 9.0, 9.0))
    write(tuning(plan(1, 2, {"pml": "ob1"}, {"bcast": 1.1})), tmp_path / "tuning.toml")
    lines = refuses("verify", "--tuning", "tuning.toml", *words, "--", "mpirun", "-n", "2", "true").splitlines()
    assert said in lines[0]
    assert len(lines) == 1
