"""The bar of a study in a terminal: what it says whatever the width."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from unisono.commands.progress import StudyProgress

LONG = "round 1: UCX_RNDV_THRESH=128kb, coll=tuned, pml=ucx, placement=block, 16 x 48 ranks"


def shown(width: int, what: str) -> str:
    """The last state of the bar, as one line."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None, legacy_windows=False)
    with StudyProgress(console, samples=8, budget=None) as progress:
        progress.add(4)
        progress.show(what)
        progress._bar.refresh()  # what it draws twice a second, now
        drawn = console.file.getvalue()  # type: ignore[attr-defined]
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.replace("\r", "\n")).splitlines()
    return [line for line in lines if "50%" in line][-1].rstrip()


@pytest.mark.parametrize("width", [70, 80, 100, 200])
def test_share_and_times_are_whole_and_the_setting_is_cut(width: int) -> None:
    line = shown(width, LONG)
    assert len(line) <= width
    assert re.match(r"Measuring +\S+ +50% \d:\d\d:\d\d left [-\d]:[-\d][-\d]:[-\d][-\d] round 1: UCX", line)
    assert (LONG in line) == (width == 200)
