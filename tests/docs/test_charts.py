"""Charts of pages are those of the results that the repository keeps."""

from __future__ import annotations

import json

from benchmarks.nonblocking_chart import SAME, chart
from tests.docs.text import ROOT
from unisono.simulate.picture import draw

RUNS = ROOT / "benchmarks" / "data" / "intel-6-167" / "nonblocking.jsonl"


def test_the_chart_of_nonblocking_collectives_is_that_of_the_kept_runs() -> None:
    charts = [chart(json.loads(line)) for line in RUNS.read_text().splitlines()]
    assert [one.title for one in charts] == [
        "Nonblocking (call and wait), Open MPI 5.0.11",
        "Nonblocking (call and wait), MPICH 5.0.2",
        "Persistent (start and wait), Open MPI 5.0.11",
        "Persistent (start and wait), MPICH 5.0.2",
    ]
    assert [*charts[2].curves] == [SAME, "allreduce", "reduce", "bcast", "allgather", "alltoall"]
    assert round(charts[0].curves["ibcast"][32768], 2) == 0.84
    assert (ROOT / "docs" / "images" / "nonblocking.svg").read_text() == draw(charts)
