"""What the library chooses in given allocations, by its own counting, and what the benchmark makes of jobs."""

from __future__ import annotations

import importlib
import io
import tarfile
from pathlib import Path

import pytest

from tests.launch.conftest import Installed, installed
from unisono.core.errors import UserError
from unisono.library.native import built

__all__ = ["installed"]

allocations = importlib.import_module("benchmarks.allocations")
"""Not a package of ours: mypy reads it by itself."""

MAP = "NODE 0001 RACK 1 CELL 1 ROW 1 SWITCH 10100\nNODE 0002 RACK 1 CELL 1 ROW 1\nNODE 0003 RACK 2 CELL 7 ROW 1\n"


def _archive(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def test_jobs_of_an_archive(tmp_path: Path) -> None:
    cell_of = allocations.cells(MAP)
    assert cell_of == {1: 1, 2: 1, 3: 7}
    files = {"m/2.txt": "n0003\nn0001\n\n", "m/1.txt": "n0001 n0002 n0009\n", "m/3.txt": "n0003\n"}
    assert allocations.jobs(_archive(tmp_path / "jobs.tar.gz", files), cell_of) == [[1, 1], [7, 1]]
    with pytest.raises(UserError, match="no line like"):
        allocations.cells("nothing")
    with pytest.raises(UserError, match=r"jobs\.txt"):
        allocations.jobs(tmp_path / "jobs.txt", cell_of)


def test_the_choice_in_made_up_jobs(installed: Installed) -> None:
    if not installed.version.startswith("5"):
        pytest.skip("one MPI is enough")
    program = built(allocations.PROGRAM, str(Path(installed.mpirun).with_name("mpicc")))
    apart, together, uneven = [1, 2] * 8, [1] * 16, [5] * 9 + [3] * 2 + [4] * 20
    rows = allocations.counted(program, [apart, together, uneven], 4)
    assert {row.job for row in rows} == {0, 2}, "nothing crosses where all are in one group"
    assert {row.collective for row in rows} == {"bcast", "reduce", "allreduce", "allgather", "reduce_scatter"}
    large = {(row.job, row.collective): row for row in rows if row.bytes == 1 << 26}
    # Ranks visit two groups by turns: our order passes from one to the other once, a ring at every step.
    bcast, allreduce = large[0, "bcast"], large[0, "allreduce"]
    assert bcast.choice == "bcast_chain" and bcast.ours == 1 << 26
    assert allreduce.ours == 2 << 26 and allreduce.rivals["ring"] == pytest.approx(16 * 2 * 15 / 16 * (1 << 26))
    assert large[2, "bcast"].ours == 2 << 26
    for row in large.values():
        assert row.ours <= min(row.rivals.values()) * 1.0001, row
    assert allocations.worse([bcast, allreduce], "ring") == 0 and allocations.worse([bcast]) == 0
    assert allocations.mean_ratio([allreduce], "ring") == pytest.approx(2 / 30)
    assert allocations.best_single([allreduce]) in allreduce.rivals


def test_a_chart_has_a_point_for_each_doubling_of_nodes() -> None:
    """Geometric means of ours over each rival's bytes, by the size of the job; both orders of a binomial tree named."""
    rivals = {"binomial": 8.0, "binomial, far first": 4.0, "ring": 2.0}
    rows = [allocations.Row(job, "allgather", 1024, "ring", ours, rivals) for job, ours in enumerate((1.0, 4.0, 2.0))]
    (chart,) = allocations.charts(rows, [4, 7, 200], 1024)
    assert chart.curves == {
        "over binomial, far first": {4: pytest.approx(0.5), 128: pytest.approx(0.5)},
        "over binomial, near first": {4: pytest.approx(0.25), 128: pytest.approx(0.25)},
        "over ring": {4: pytest.approx(1), 128: pytest.approx(1)},
    }
    assert [chart.label(low) for low in chart.curves["over ring"]] == ["4 to 7", "128+"]
