"""What is simulated is a study like any other, without intervals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.commands.program import refused, unisono
from tests.tuning.samples import machine, plan, tuning
from unisono.advise.apply import apply
from unisono.advise.beside import evidences_of
from unisono.commands.looking_up import lookup
from unisono.commands.simulate_tune import Wishes, simulate_tune
from unisono.core.errors import LaunchError, UserError
from unisono.core.vocabulary import DEFAULT, EXACT, SIMULATED, Case, Sample, Setting
from unisono.decide.decide import decide
from unisono.export.provenance import provenance
from unisono.simulate.files import platform
from unisono.simulate.programs import unavailable
from unisono.simulate.run import Result, Run
from unisono.simulate.study import Wanted, begin, fill, ours, resume
from unisono.study.store import Store
from unisono.tuning import read

reason = unavailable()

CASE = Case("bcast", 4, 2)
RING = Setting({"coll": "unisono", "algorithm": "ring"})
TREE = Setting({"coll": "unisono", "algorithm": "tree"})
WANTED = Wanted(platform("fx10"), (4,), 2, ("bcast",), (8, 1024), ("ring",))


def _sample(size: int, setting: Setting, seconds: float, launch: int = 1) -> Sample:
    t = seconds
    return Sample(launch, EXACT, CASE, size, setting, 1, 0, SIMULATED, t, t, t, t, t, t, t, None)


def _decided(times: dict[Setting, list[float]]) -> list[tuple[int, int | None, Setting, float, float, float]]:
    samples = [_sample(8 << 2 * i, s, t) for s, found in times.items() for i, t in enumerate(found)]
    decision = decide(samples, method=SIMULATED)
    best = max(decision.plans, key=lambda plan: plan.gain["bcast"].mid)
    return [(r.first, r.last, r.call, r.gain.low, r.gain.mid, r.gain.high) for r in best.rules]


def test_one_simulation_decides_and_has_no_interval() -> None:
    rules = _decided({DEFAULT: [1, 1, 1, 1], RING: [2, 2, 0.5, 0.5], TREE: [0.8, 0.8, 0.9, 0.9]})
    assert [call for _f, _l, call, *_gain in rules] == [TREE, RING]
    assert [mid for *_rest, mid, _high in rules] == pytest.approx([1.25, 2.0])
    assert all(low == mid == high for *_rest, low, mid, high in rules)


def test_what_is_within_the_margin_is_not_chosen() -> None:
    assert [call for _f, _l, call, *_gain in _decided({DEFAULT: [1, 1], RING: [0.98, 0.98]})] == [DEFAULT]


def test_measured_samples_still_need_launches() -> None:
    """The same numbers of a first round say nothing."""
    samples = [
        replace(_sample(size, s, t), round=1, sync="clock")
        for s, t in ((DEFAULT, 1.0), (RING, 0.5))
        for size in (8, 32)
    ]
    decision = decide(samples, method="race")
    assert all(not rule.call for plan in decision.plans for rule in plan.rules)


def test_our_algorithms_by_collective() -> None:
    assert "flat_bruck" in ours("allgather") and "links" in ours("bcast") and "v_ring" not in ours("allgather")
    assert not {name for name in ours("reduce") if name.startswith("scatter_block")}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"ppn": 17}, "--ppn 17: PRIMEHPC FX10 has nodes of 16 cores"),
        ({"nodes": (1,), "ppn": 1}, "1 ranks: from 2 to 16384"),
        ({"nodes": (384,), "ppn": 16, "collectives": ("alltoall",), "algorithms": ()}, "37,742,592 messages"),
        ({"algorithms": ("rings",)}, "--algorithm rings: ours are "),
    ],
)
def test_what_cannot_be_simulated_is_said_at_once(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        replace(WANTED, **change)  # type: ignore[arg-type]


def test_reduced_vectors_are_whole_numbers() -> None:
    assert replace(WANTED, sizes=(4, 8, 20)).sizes_of("allreduce") == [8, 24]


def test_a_study_is_continued_as_it_was_begun(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    begin(path, WANTED).close()
    resume(path, replace(WANTED, deadline=5.0)).close()
    with pytest.raises(UserError, match=r"another study than the one you ask for \(sizes\)"):
        resume(path, replace(WANTED, sizes=(8,)))
    assert "was simulated; continue it with unisono simulate tune" in refused(
        unisono("tune", "--resume", "-o", tmp_path)
    )
    with Store.open(path) as store:
        data = store.data()
    assert data.method == SIMULATED and data.machine.name == "PRIMEHPC FX10"
    assert any("nothing was measured" in note for note in data.notes)
    assert any("four DMA engines" in note for note in data.notes)


WISHES = Wishes(
    platform="fx10",
    study=None,
    nodes="4",
    ppn=2,
    output=Path("here"),
    collectives=["bcast"],
    sizes=["8", "512K"],
    algorithms=["links", "leader", "cells"],
    selector="ompi",
    deadline="60s",
    resume=True,
    json=False,
)


@pytest.mark.skipif(reason is not None, reason=f"SimGrid: {reason}")
def test_a_simulated_study_from_the_command_to_what_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wishes = replace(WISHES, output=tmp_path)
    assert simulate_tune(wishes) == 0
    printed = capsys.readouterr()
    assert "SIMULATED" in printed.out and "x (" not in printed.out and "confidence" not in printed.out
    assert printed.err.count("bcast 4 x 2") == 4
    assert simulate_tune(wishes) == 0
    assert "bcast 4 x 2" not in capsys.readouterr().err, "nothing is simulated twice"
    with pytest.raises(UserError, match="choose another -o DIR"):
        simulate_tune(replace(wishes, resume=False))

    with Store.open(tmp_path / "study.db") as store:
        samples = store.samples()
    assert {(s.sync, s.round, s.repetitions) for s in samples} == {(SIMULATED, EXACT, 1)}
    assert len(samples) == 2 * 3, "cells is for one node"
    path = tmp_path / "tuning.toml"
    page = (tmp_path / "report.html").read_text()
    assert "SIMULATED: nothing on this page was measured" in page and "Simulated on PRIMEHPC FX10" in page
    asked: dict[str, Any] = {"collective": "bcast", "size": "512K", "nodes": 4, "ppn": 2, "for_": None, "weights": None}
    lookup(path, **asked, why=False, json=False)
    looked = " ".join(capsys.readouterr().out.split())
    assert "the default's speed, simulated" in looked and "nothing of it was measured" in looked
    lookup(path, **asked, why=False, json=True)
    assert json.loads(capsys.readouterr().out)["simulated"] is True
    lookup(path, **asked, why=True, json=False)
    explained = capsys.readouterr().out
    assert "simulated at" in explained and "interval" not in explained and "measured at" not in explained
    with pytest.raises(
        UserError, match="is a simulated study; unisono advise predicts only from a study that was measured"
    ):
        evidences_of(read(path), path, [])


@pytest.mark.parametrize("status", ["hung", "crashed"])
def test_what_ran_into_its_deadline_is_tried_again_and_what_failed_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    asked: list[tuple[str, float]] = []

    def results(run: Run, deadline: float) -> list[Result]:
        (algorithm,) = run.algorithms
        asked.append((algorithm, deadline))
        if algorithm == "ring" and deadline < 60:
            raise LaunchError(status, "as told")
        found = [Result(run.collective, algorithm, size, 1e-6 * size) for size in run.sizes]
        return found[: 1 if algorithm == "smpi" and deadline < 60 else None]

    monkeypatch.setattr(Run, "results", results)
    monkeypatch.setattr("unisono.simulate.study.simulator", lambda: None)
    path = tmp_path / "study.db"
    with begin(path, replace(WANTED, deadline=5.0)) as store:
        fill(store, replace(WANTED, deadline=5.0), lambda *_: None)
        assert {(r.setting, r.size) for r in store.refusals()} == {(DEFAULT, 1024), (RING, 8), (RING, 1024)}
    with resume(path, WANTED) as store:
        asked.clear()
        fill(store, WANTED, lambda *_: None)
        again = {("smpi", 60.0), ("ring", 60.0)} if status == "hung" else {("smpi", 60.0)}
        assert set(asked) == again
        left = {r.setting for r in store.refusals()}
        assert left == (set() if status == "hung" else {RING}), "what was simulated after all is refused no more"
        asked.clear()
        fill(store, WANTED, lambda *_: None)
        assert asked == [], "nothing is simulated twice"


def test_what_applies_or_writes_a_simulated_tuning_says_so() -> None:
    """The notes of unisono run, and the head of every exported file."""
    made = tuning(plan())
    assert "SIMULATED" not in " ".join(provenance(made, made.plan[0]))
    made = made.model_copy(update={"study": made.study.model_copy(update={"method": SIMULATED})})
    assert "nothing of this was measured on any machine" in " ".join(provenance(made, made.plan[0]))
    assert "Simulated gain over the default" in " ".join(provenance(made, made.plan[0]))
    notes = " ".join(apply(made, ["mpirun", "-n", "4", "./app"], machine(), env={}).notes)
    assert "this tuning is simulated with SimGrid: nothing of it was measured on any machine" in notes
