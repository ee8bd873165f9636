"""A warning where others use the machine."""

from __future__ import annotations

import pytest

from unisono.commands.busy import warn_where_busy


@pytest.mark.parametrize(("load", "cpus", "said"), [(2.2, 2, True), (0.4, 2, False), (2.2, 8, False), (0.6, 0, True)])
def test_it_is_said_by_the_load_of_each_cpu(
    load: float, cpus: int, said: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, 9.0, 9.0))
    assert warn_where_busy(cpus) == (load if said else 0.0)
    assert ("Others are using this machine (load average" in capsys.readouterr().err) == said
