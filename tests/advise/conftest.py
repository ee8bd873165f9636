"""What the tests of applying and proving a tuning have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from unisono.machine.description import Machine


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rules files are kept in a cache of the test's own; programs already built are not wanted there."""
    monkeypatch.setattr("unisono.advise.apply.cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture(params=["embedded", "system"])
def machine(request: pytest.FixtureRequest) -> Machine:
    """This machine with each of its MPIs."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Machine)
    return found
