"""examples/halo solves its equation with every exchange on any number of ranks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.examples.conftest import HALO, Launcher

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

OPTIONS = ("--grid", "23", "30", "--steps", "12", "--every", "4")
NEEDS = ("mpi4py", "numpy")


def changes(launcher: Launcher, ranks: int, exchange: str) -> list[float]:
    """What it says after every fourth step; it must be right by its own check, which is against the exact solution."""
    done = launcher(ranks, launcher.python, HALO, *OPTIONS, "--exchange", exchange)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "Verification = SUCCESSFUL" in done.stdout
    assert re.search(r"^ Time in seconds = +[0-9]+\.[0-9]+$", done.stdout, re.MULTILINE)
    return [float(number) for number in re.findall(r"change (\S+)", done.stdout)]


@pytest.mark.parametrize("mpi", ["open_mpi_5", "open_mpi_4"])
def test_divisions_and_exchanges_agree(request: pytest.FixtureRequest, mpi: str) -> None:
    launcher: Launcher = request.getfixturevalue(mpi)
    if not launcher.has(*NEEDS):
        pytest.skip(f"{launcher.python} has no mpi4py with NumPy")
    two = changes(launcher, 2, "sendrecv")
    assert len(two) == 3
    assert changes(launcher, 4, "nonblocking") == pytest.approx(two, rel=1e-9)


def test_its_check_finds_a_missing_message(open_mpi_5: Launcher, tmp_path: Path) -> None:
    """A copy that swaps columns, but not rows; two ranks are one above the other."""
    if not open_mpi_5.has(*NEEDS):
        pytest.skip(f"{open_mpi_5.python} has no mpi4py with NumPy")
    text = HALO.read_text()
    right = "for low, high in (around[:2], around[2:]):"
    assert text.count(right) == 1
    broken = tmp_path / "halo.py"
    broken.write_text(text.replace(right, "for low, high in (around[2:],):"))
    done = open_mpi_5(2, open_mpi_5.python, broken, *OPTIONS, "--exchange", "sendrecv")
    assert done.exit_code == 1
    assert "Verification = FAILED" in done.stdout
