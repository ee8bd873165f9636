"""Lines as people see them: where they may end."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.style import Style
from rich.table import Table
from rich.text import Text

from tests.conftest import EMBEDDED
from tests.tuning.samples import plan, rule, tuning
from unisono.commands import applying
from unisono.commands.console import Terminal
from unisono.tuning.document import write


def shown(printed: object, width: int) -> list[str]:
    stream = io.StringIO()
    Terminal(file=stream, width=width, highlight=False).print(printed)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


WORDS = "from 1 KiB to 128 MiB, 40 % of 7 B in 24.2 us"
PARTS = ["from", "1 KiB", "to", "128 MiB,", "40 %", "of", "7 B", "in", "24.2 us"]


@pytest.mark.parametrize("width", range(8, 50))
@pytest.mark.parametrize("kind", [str, Text])
def test_no_line_ends_between_a_number_and_its_unit(width: int, kind: type) -> None:
    lines = shown(kind(WORDS), width)
    assert all(len(line) <= width for line in lines)
    assert " ".join(lines) == WORDS
    assert all(any(part in line for line in lines) for part in PARTS)


def test_nor_does_one_in_a_cell_a_title_or_a_caption() -> None:
    table = Table(title="sizes up to 16 KiB", caption="measured up to 64 MiB")
    for name in ("at", "use"):
        table.add_column(name, overflow="fold")
    table.add_row("8 B, 64 B, 1 KiB, 16 KiB", Text("our pull, segments of 16 KiB", style="bold"))
    for width in range(22, 60):
        lines = shown(table, width)
        assert not [line for line in lines if line.replace("│", " ").split()[:1] in (["B"], ["KiB"], ["MiB"])]
        assert sum(line.count("16 KiB") for line in lines) == 3


def test_what_is_broken_elsewhere_keeps_its_styles() -> None:
    text = Text("up to ")
    text.append("16 KiB", style="bold")
    console = Terminal(width=9)
    (first, second) = console.render_lines(text, console.options, pad=False)
    assert "".join(segment.text for segment in first).rstrip() == "up to"
    assert [(segment.text, segment.style) for segment in second] == [("16 KiB", Style(bold=True))]


@pytest.mark.parametrize("width", range(24, 80))
def test_japanese_lines_are_full(width: int) -> None:
    """Rich would end the first behind "UCX", the next word having no space for a hundred columns."""
    said = "UCX が使用中のトランスポートだけを、1 KiB ごとにポーリングするか、すべてをポーリングするかです。" * 2
    table = Table(show_header=False, box=None, padding=0)
    table.add_row(Text(said))
    for printed in (Text(said, style="bold"), said, table):
        lines = shown(printed, width)
        assert all(width - 12 <= cell_len(line) <= width + 2 for line in lines[:-1])
        assert "".join(lines).replace(" ", "") == said.replace(" ", "")
        assert sum(line.count("1 KiB") for line in lines) == 2


def test_run_says_whose_every_line_of_its_own_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Among the program's lines, where the library is built on first use, too."""

    def build(mpicc: str | None, progress: Callable[[str], None] | None) -> Path:
        assert progress is not None
        progress("Building libunisono.so with mpicc")
        return tmp_path / "libunisono.so"

    monkeypatch.setattr("unisono.advise.apply.recorder", build)
    rules = (rule("bcast", 0, None, {"coll": "unisono", "algorithm": "cells"}, sizes=(8, 64)),)
    write(tuning(plan(1, 2, {"preload": "unisono"}, {"bcast": 1.1}, rules)), tmp_path / "tuning.toml")
    line = [str(EMBEDDED), "-n", "2", "hostname"]
    words = {"for_": None, "weights": None, "layout": False, "print_only": True}
    assert applying.run(tmp_path / "tuning.toml", line, **words) == 0  # type: ignore[arg-type]
    said = capsys.readouterr().err.splitlines()
    assert "unisono: Building libunisono.so with mpicc" in said
    assert all(one.startswith("unisono: ") for one in said)
