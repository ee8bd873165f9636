"""Phases of Python programs; with the recorder: tests/profile/test_record.py."""

from __future__ import annotations

import pytest

from unisono import phases
from unisono.phases import phase


def test_without_the_recorder_it_does_nothing() -> None:
    @phase("a part")
    def twice(number: int) -> int:
        return 2 * number

    with phase("another"):
        assert twice(2) == 4


def test_phases_end_also_by_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(phases, "_begin", lambda name: said.append(name.decode()))
    monkeypatch.setattr(phases, "_end", lambda: said.append("end"))
    with pytest.raises(ZeroDivisionError), phase("outer"), phase("Übergabe"):
        _ = 1 // 0
    assert said == ["outer", "Übergabe", "end", "end"]
