"""Command lines that are refused, run in the tests' own process: starting another costs more than what it does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from unisono.cli import main

Refuses = Callable[..., str]


@pytest.fixture
def refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refuses:
    """`refuses(word, ...)` runs a command line in the test's folder and gives what it says on stderr, with status 2."""
    monkeypatch.chdir(tmp_path)

    def refused(*words: str | Path) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*map(str, words)])
        said = capsys.readouterr()
        assert ended.value.code == 2, (ended.value.code, said.out, said.err)
        assert "Traceback" not in said.err
        return said.err

    return refused
