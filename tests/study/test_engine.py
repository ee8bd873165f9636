"""Real launches of the benchmark, and real failures: the study records them and goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.library.recorder import recorder
from unisono.machine.description import Machine
from unisono.search.verdict import decide_study
from unisono.study.config import Measure
from unisono.study.engine import Engine, Item, Task
from unisono.study.ours import Ours
from unisono.study.store import Store

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

SCOPE = ("coll", "algorithm", "segment")
QUICK = Measure(seconds=0.002, min_repetitions=3, max_repetitions=20, timeout=4)
BASIC = Setting({"coll": "basic"})
RING = Setting({"coll": "tuned", "algorithm": "ring"})
UCX = Setting({"pml": "ucx"})

Run = Callable[..., Store]


@pytest.fixture
def run(tmp_path: Path, embedded: Machine, bench: Path) -> Run:
    def run(
        *tasks: Task,
        oversubscribe: bool = False,
        measure: Measure = QUICK,
        program: Path = bench,
        ours: Ours | None = None,
    ) -> Store:
        path = tmp_path / "study.db"
        meta = {"margin": 0.03, "confidence": 0.95, "weights": {}, "scope": SCOPE}
        if path.exists():
            store = Store.open(path, write=True)
        else:
            store = Store.create(path, name="t", config="{}", method="race", machine=embedded, meta=meta)
        with store:
            engine = Engine(
                store, embedded, program, scope=SCOPE, measure=measure, oversubscribe=oversubscribe, ours=ours
            )
            for task in tasks:
                engine.run(task)
        return Store.open(path)

    return run


def task(
    *settings: Setting, launch: Setting = DEFAULT, collectives: tuple[str, ...] = ("allreduce",), **more: int
) -> Task:
    ppn, round = more.get("ppn", 2), more.get("round", 1)
    items = tuple(
        Item(Case(name, 1, ppn), size, tuple(launch | s for s in settings))
        for name in collectives
        for size in (8, 1024)
    )
    return Task(launch, 1, ppn, round, items)


def test_a_launch_stores_every_sample_with_its_limits(run: Run) -> None:
    with run(task(DEFAULT, BASIC, RING)) as store:
        data = store.data()
    measured = {(s.case.collective, s.size, s.setting) for s in data.samples}
    assert measured == {("allreduce", size, setting) for size in (8, 1024) for setting in (DEFAULT, BASIC, RING)}
    assert all(s.correct and s.minimum <= s.median <= s.p95 and s.repetitions >= 3 for s in data.samples)
    assert data.launches[0].status == "done"
    assert data.limits[(1, 2)]["latency_ns"] > 0


def test_limits_reach_as_far_as_the_messages(run: Run) -> None:
    """The longest copies take longer than all else of a short study."""
    most, long = [], Task(DEFAULT, 1, 2, 2, (Item(Case("alltoall", 1, 2), 1 << 20, (DEFAULT,)),))
    for tasks in ([task(DEFAULT)], [task(BASIC)], [long], [replace(long, round=3)]):
        with run(*tasks) as store:
            most.append(max(rate["bytes"] for rate in store.limits()[1, 2]["copy"]))
            with closing(sqlite3.connect(store.path)) as kept:
                times = kept.execute("SELECT count(*) FROM limits").fetchone()
    assert most == [1 << 20, 1 << 20, 4 << 20, 4 << 20] and times == (2,)


def test_our_algorithms_of_one_name_are_each_collectives_own(run: Run, embedded: Machine) -> None:
    """Inline carries no long message of any collective: whoever measured one measured something else."""
    assert embedded.mpi is not None
    ours = Ours(recorder(embedded.mpi.mpicc), {})
    inline = Setting({"coll": "unisono", "algorithm": "inline"})
    names = ("allgather", "allreduce", "alltoall", "bcast")
    items = tuple(Item(Case(name, 1, 2), size, (DEFAULT, inline)) for name in names for size in (8, 1 << 20))
    with run(Task(DEFAULT, 1, 2, 1, items), ours=ours) as store:
        data = store.data()
    assert {(s.case.collective, s.size) for s in data.samples if s.setting == inline} == {(name, 8) for name in names}
    assert {(r.collective, r.size) for r in data.refusals} == {(name, 1 << 20) for name in names}


def test_more_ranks_than_a_quota_allows_count_as_oversubscribed(tmp_path: Path, embedded: Machine, bench: Path) -> None:
    meta = {"margin": 0.03, "confidence": 0.95, "weights": {}, "scope": SCOPE}
    for quota, crowded in ((1.5, True), (2.0, False)):
        limited = embedded.model_copy(update={"cpu_quota": quota})
        path = tmp_path / f"{quota}.db"
        with Store.create(path, name="t", config="{}", method="race", machine=limited, meta=meta) as store:
            Engine(store, limited, bench, scope=SCOPE, measure=QUICK, oversubscribe=False).run(task(DEFAULT))
            assert [launch.oversubscribed for launch in store.launches()] == [crowded]


def test_an_interrupted_round_is_continued_not_repeated(run: Run) -> None:
    """Nothing measured is lost, nothing is measured twice."""
    run(task(DEFAULT)).close()
    with run(task(DEFAULT, BASIC, collectives=("allreduce", "bcast"))) as store:
        data = store.data()
    triples = [(s.round, s.case.collective, s.size, s.setting) for s in data.samples]
    assert len(triples) == len(set(triples)) == 8
    assert len(data.launches) == 2


def test_a_setting_that_hangs_is_found_and_the_rest_is_measured(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_BENCH_FAULT", "hang:allreduce")
    with run(
        task(DEFAULT, BASIC, collectives=("allreduce", "bcast")), measure=QUICK.model_copy(update={"timeout": 1})
    ) as store:
        data = store.data()
    assert {(s.case.collective, s.setting) for s in data.samples} == {
        ("allreduce", DEFAULT), ("bcast", DEFAULT), ("bcast", BASIC),
    }  # fmt: skip
    assert {(r.collective, r.setting) for r in data.refusals} == {("allreduce", BASIC)}
    assert "hung" in data.refusals[0].reason
    assert "hung" in {launch.status for launch in data.launches}


def test_a_setting_that_crashes_is_found_and_the_rest_is_measured(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_BENCH_FAULT", "crash:bcast")
    with run(task(DEFAULT, BASIC, collectives=("allreduce", "bcast"))) as store:
        data = store.data()
    assert len([s for s in data.samples if s.case.collective == "allreduce"]) == 4
    assert {s.setting for s in data.samples if s.case.collective == "bcast"} == {DEFAULT}
    assert "crashed" in {launch.status for launch in data.launches}


def test_a_setting_with_wrong_results_is_marked_and_not_asked_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_BENCH_FAULT", "wrong:allreduce")
    run(task(DEFAULT, BASIC)).close()
    with run(task(DEFAULT, BASIC, round=2)) as store:
        samples = store.samples()
    assert {s.correct for s in samples if s.setting == DEFAULT} == {True}
    assert {s.correct for s in samples if s.setting == BASIC} == {False}
    assert {s.round for s in samples if s.setting == BASIC} == {1}


def test_a_launch_setting_the_mpi_declines_is_given_up(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unisono.measure.session._DECLINED", 2.0)
    nonsense = Setting({"pml": "nonsense"})
    with run(task(DEFAULT, launch=nonsense), task(DEFAULT), task(DEFAULT, launch=nonsense, round=2)) as store:
        data = store.data()
    failed = [launch for launch in data.launches if launch.setting == nonsense]
    assert len(failed) == 2  # tried twice, then never again
    assert all(launch.status in ("refused", "crashed") and launch.reason for launch in failed)
    assert len(data.samples) == 2


def test_more_ranks_than_cores_works_and_says_so(run: Run, embedded: Machine) -> None:
    crowd = 2 * len(embedded.cpus)
    with run(task(DEFAULT, ppn=crowd), oversubscribe=True) as store:
        data = store.data()
    assert data.launches[0].oversubscribed
    assert {s.sync for s in data.samples} == {"barrier"}
    assert all(s.correct for s in data.samples)


def test_a_benchmark_that_is_not_there_is_refused_with_a_reason(run: Run, tmp_path: Path) -> None:
    """Once: under no other setting would it be there."""
    with run(task(DEFAULT), task(DEFAULT, launch=UCX), program=tmp_path / "absent") as store:
        launches = store.launches()
        said = _reason(store)
        under_way = replace(store.data(), launches=(replace(launches[0], status="running", reason=""),))
    with pytest.raises(UserError, match="holds no samples yet"):
        decide_study(under_way)
    assert [launch.status for launch in launches] == ["refused"]
    assert "absent" in launches[0].reason
    assert launches[0].reason in said
    assert "its launch failed" in said
    with run(task(DEFAULT)) as store:  # it is there now, and nothing is held against the setting
        assert len(store.samples()) == 2


def _reason(store: Store) -> str:
    with pytest.raises(UserError) as refused:
        decide_study(store.data())
    return str(refused.value)


def test_two_transports_are_measured_in_launches_of_their_own(run: Run, embedded: Machine) -> None:
    assert embedded.mpi is not None
    if "ucx" not in embedded.mpi.components["pml"]:
        pytest.skip("this Open MPI has no pml/ucx")
    with run(task(DEFAULT), task(DEFAULT, launch=UCX)) as store:
        data = store.data()
    assert [launch.setting for launch in data.launches] == [DEFAULT, UCX]
    assert "--mca pml ucx" in data.launches[1].command
    assert {s.setting for s in data.samples} == {DEFAULT, UCX}


def test_where_not_even_the_default_starts_nothing_else_is_tried(run: Run, tmp_path: Path) -> None:
    """A program that ends at once: no setting is to blame, and the reason is what the study says."""
    (tmp_path / "gone").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "gone").chmod(0o755)
    tasks = [task(BASIC, launch=launch) for launch in (DEFAULT, DEFAULT, UCX, UCX)]
    with run(*tasks, program=tmp_path / "gone") as store:
        data = store.data()
        said = _reason(store)
    assert [launch.setting for launch in data.launches] == [DEFAULT] * 2
    assert "all 2 launches failed, 2 of them because: " in said
    assert "exit status 3" in said
    assert f"One was: {data.launches[0].command[:40]}" in said
