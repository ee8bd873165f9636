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
    monkeypatch.setattr("unisono.commands.busy._in_use", lambda: 0.6)
    assert warn_where_busy(cpus) == (load if said else 0.0)
    assert ("Other programs are using this machine (load average" in capsys.readouterr().err) == said


@pytest.mark.parametrize(("used", "said"), [(10, False), (60, True), (0, False), (None, True)])
def test_a_load_that_is_over_is_not_said(
    used: int | None, said: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100 ticks so many are used, as /proc/stat has them; None: there is no such file."""
    stat = tmp_path / "stat"

    def pass_time(seconds: float) -> None:
        if used is not None:
            stat.write_text(f"cpu {1000 + used} 5 7 {2000 + 90 - used} {300 + 10} 0 0 0 99 0\ncpu0 1 1 1 1 1\n")

    if used is not None:
        stat.write_text("cpu 1000 5 7 2000 300 0 0 0 99 0\ncpu0 1 1 1 1 1\n")
    monkeypatch.setattr("unisono.commands.busy._STAT", stat)
    monkeypatch.setattr("time.sleep", pass_time)
    monkeypatch.setattr("os.getloadavg", lambda: (2.2, 9.0, 9.0))
    assert (warn_where_busy(2) > 0) == said


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
