"""Charts of pages are those of the results that the repository keeps."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.text import ROOT

PAGE = ROOT / "docs" / "nonblocking-collectives.md"


def drawn(runs: Path, folder: Path) -> str:
    picture = folder / "picture.svg"
    subprocess.run([sys.executable, ROOT / "benchmarks" / "nonblocking_chart.py", runs, picture], check=True)
    return picture.read_text()


def test_the_chart_of_nonblocking_collectives_is_that_of_the_kept_runs(tmp_path: Path) -> None:
    said = re.search(r"`python benchmarks/nonblocking_chart\.py (\S+)\s+(\S+)`", PAGE.read_text())
    assert said is not None
    assert drawn(ROOT / said[1], tmp_path) == (ROOT / said[2]).read_text()


@pytest.mark.parametrize(
    "words",
    [
        "solver.py --kept --picture docs/images/solver.svg",
        "algorithms_for_scale.py --keep benchmarks/data/algorithms-for-scale.jsonl --markdown "
        "--picture docs/images/algorithms-for-scale.svg",
    ],
)
def test_charts_that_a_page_draws_from_what_is_kept(words: str, tmp_path: Path) -> None:
    pages = " ".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))
    assert f"python benchmarks/{words}" in " ".join(pages.split())
    program, *options, picture = words.split()
    subprocess.run(
        [sys.executable, ROOT / "benchmarks" / program, *options, tmp_path / "picture.svg"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert (tmp_path / "picture.svg").read_text() == (ROOT / picture).read_text()


def test_the_tables_of_algorithms_for_scale_are_those_of_what_is_kept() -> None:
    """Row by row; the page has one column more where it says what an algorithm is mainly for, instead of the last."""
    kept = "benchmarks/data/algorithms-for-scale.jsonl"
    argv = [sys.executable, "benchmarks/algorithms_for_scale.py", "--keep", kept, "--markdown"]
    printed = subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    often = printed.index("| algorithm |")
    page = (ROOT / "docs" / "algorithms-for-scale.md").read_text().replace(" cells |", " |").splitlines()
    lines = [line for line in printed[:often].splitlines() if re.search(r"\d.*\|$", line)]
    assert len(lines) > 80
    assert not [line for line in lines if line not in page]
    rows = [line.rsplit("|", 2)[0] for line in printed[often:].splitlines()[2:]]
    assert len(rows) > 12
    assert not [row for row in rows if not any(line.startswith(row) for line in page)]


def test_the_tables_of_link_loads_are_those_of_what_is_kept() -> None:
    argv = [sys.executable, "benchmarks/link_loads.py", "--keep", "benchmarks/data/link-loads.jsonl", "--markdown"]
    printed = subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    page = (ROOT / "docs" / "algorithms-for-scale.md").read_text()
    assert " ".join(argv[1:]) in " ".join(page.split())
    assert printed.strip() in page
    assert len(printed.splitlines()) > 20


def test_a_run_becomes_a_chart_of_how_many_times_as_fast_each_size_is(tmp_path: Path) -> None:
    rows = [
        {"collective": "ibcast", "bytes": 8, "mpi_us": 3.0, "ours_us": 1.0},
        {"collective": "ibcast", "bytes": 64, "mpi_us": 1.0, "ours_us": 1.0},
        {"collective": "ibarrier", "bytes": 8, "mpi_us": 90.0, "ours_us": 1.0},
        {"collective": "allreduce_init", "bytes": 8, "mpi_us": 90.0, "ours_us": 1.0},
    ]
    runs = tmp_path / "runs.jsonl"
    runs.write_text(
        json.dumps({"rows": rows, "conditions": {"mpi": "mpich 5.0.2", "ranks": 2, "kind": "persistent"}}) + "\n"
    )
    svg = drawn(runs, tmp_path)
    assert "Persistent (start and wait), MPICH 5.0.2" in svg
    assert re.findall(r'font-size="12"|>(bcast|barrier|allreduce)<', svg) == ["", "bcast"]
    assert re.findall(r'text-anchor="end"[^>]*>([^<]+)<', svg) == ["1", "1.5", "2", "2.5", "3"]
