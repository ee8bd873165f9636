"""The race against a runner that is made up; what it decides: tests/decide/test_race.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tests.decide.synthetic import Bench, Noise, scaled, study
from tests.study.machines import machine
from tests.study.test_store import META
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Sample, Setting
from unisono.search import race
from unisono.search.search import never_launched
from unisono.study.config import Study
from unisono.study.data import Refusal
from unisono.study.engine import Task
from unisono.study.matrix import CaseMatrix, Matrix
from unisono.study.replay import Replay
from unisono.study.store import Store

CASE = Case("alltoall", 1, 2)
FAST = Setting({"coll": "unisono", "algorithm": "cells"})
SMALL_ONLY = Setting({"coll": "unisono", "algorithm": "inline"})
STUDY = Study.model_validate(
    {"study": {"name": "one size"}, "cases": {"collectives": ["alltoall"]}, "method": {"name": "race"}}
)


@dataclass
class Made:
    """A runner on which `SMALL_ONLY` does not apply to the one message size there is."""

    bench: Bench = field(default_factory=lambda: Bench(scaled({FAST: 0.9}), Noise(0.01, 0, 0.003)))
    done: list[Sample] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    asked: list[Setting] = field(default_factory=list)

    def run(self, task: Task) -> None:
        for item in task.items:
            self.asked += item.settings
            there = [setting for setting in item.settings if setting != SMALL_ONLY]
            self.done += self.bench.launch(task.round, [(item.case, item.size, there)])
            if SMALL_ONLY in item.settings:
                self.refused.append(Refusal(task.round, "alltoall", item.size, SMALL_ONLY, "use: does not apply"))

    def exhausted(self) -> bool:
        return False

    def spent(self) -> float:
        return 0.0

    def samples(self) -> list[Sample]:
        return self.done

    def given_up(self) -> set[tuple[str, Setting]]:
        return set()

    def declined(self) -> list[Refusal]:
        return self.refused


def test_what_applies_to_no_size_is_not_waited_for() -> None:
    """Else every round asks for it alone, and nothing else gets the launches that would settle it."""
    matrix = Matrix((CaseMatrix(CASE, (4096,), (DEFAULT, FAST, SMALL_ONLY)),), (), CALL_SCOPE)
    runner = Made()
    assert race.run(matrix, STUDY, runner)
    assert runner.asked.count(SMALL_ONLY) == 1 and runner.asked.count(FAST) > 1


@dataclass
class Timed(Made):
    """Each launch takes a second of the budget; what was measured in a round is not measured again."""

    budget: float = 10.0
    launched: list[tuple[int, Setting]] = field(default_factory=list)

    def run(self, task: Task) -> None:
        if (task.round, task.setting) not in self.launched:
            self.launched.append((task.round, task.setting))
            for item in task.items:
                self.done += self.bench.launch(task.round, [(item.case, item.size, list(item.settings))])

    def spent(self) -> float:
        return len(self.launched) / self.budget

    def exhausted(self) -> bool:
        return self.spent() > 1


MANY = [Setting({"pml": pml, "UCX_TLS": tls, "placement": "block"}) for pml in ("ucx", "ob1") for tls in "abcdefghi"]
COMPONENT, PLACED = Setting({"coll": "basic"}), Setting({"placement": "block"})


def _launches(budget: float) -> tuple[bool, list[tuple[int, Setting]]]:
    runner = Timed(Bench(scaled({COMPONENT: 0.5, MANY[3]: 0.4}), Noise(0.01, 0, 0.003)), budget=budget)
    matrix = Matrix((CaseMatrix(CASE, (4096,), (DEFAULT, *MANY, PLACED, COMPONENT)),), (), ("algorithm", "segment"))
    return race.run(matrix, STUDY, runner), runner.launched


def test_a_short_budget_launches_few_settings_often_rather_than_all_once() -> None:
    settled, launched = _launches(12)
    assert [setting for _round, setting in launched[:3]] == [DEFAULT, COMPONENT, PLACED], "what differs in one thing"
    assert [round for round, _setting in launched[:5]] == [1, 1, 1, 1, 2]
    assert sum(setting == COMPONENT for _round, setting in launched) >= 2
    assert not settled, "most had no launch"


def test_what_had_to_wait_is_launched_when_the_others_are_settled() -> None:
    settled, launched = _launches(60)
    rounds = [round for round, _setting in launched]
    before = rounds.index(2)
    assert before == 16, "a quarter of the budget"
    assert rounds.index(1, before) > before + 2, "then rounds of those, then what waited"
    assert {setting for _round, setting in launched} == {DEFAULT, COMPONENT, PLACED, *MANY}
    assert settled
    assert [round for round, _setting in _launches(1e9)[1][: len(MANY) + 3]] == [1] * (len(MANY) + 3)


def test_what_was_launched_before_does_not_wait_again() -> None:
    """A study that is continued: what its first round has, wherever it stands in the order, is compared at once."""
    matrix = Matrix((CaseMatrix(CASE, (4096,), (DEFAULT, *MANY, PLACED, COMPONENT)),), (), ("algorithm", "segment"))
    last = race.first_round(matrix, STUDY)[-1]
    runner = Timed(Bench(scaled({last.setting: 0.4}), Noise(0.01, 0, 0.003)), budget=24)
    runner.run(last)
    race.run(matrix, STUDY, runner)
    again = runner.launched.index((2, last.setting))
    assert again < 12, "most of the others wait longer"
    assert len({setting for round, setting in runner.launched[again:] if round == 1}) > 10


SIZES = tuple(64 << power for power in range(8))
LARGEST = scaled({FAST: {size: 0.6 if size == SIZES[-1] else 1.7 for size in SIZES}})
"""FAST is better at the largest size, and as good as the default at sizes that are none of these."""


def test_a_size_beside_a_lone_winner_counts_where_it_is_measured() -> None:
    matrix = Matrix((CaseMatrix(CASE, SIZES, (DEFAULT, FAST)),), (), CALL_SCOPE)
    runner = Timed(Bench(LARGEST, Noise(0.01, 0, 0.003)), budget=100)
    assert race.run(matrix, STUDY, runner)
    beside = [s for s in runner.samples() if s.size == 6144]
    assert {s.size for s in runner.samples()} - set(SIZES) == {6144}
    assert {s.setting for s in beside} == {DEFAULT, FAST} and len({s.launch for s in beside}) > 1
    once = list(runner.launched)
    assert race.run(matrix, STUDY, runner)
    assert runner.launched == once, "a study that is continued asks for the same"


def test_a_recording_has_no_size_beside_a_lone_winner_and_the_race_ends_all_the_same() -> None:
    rounds = range(1, 1 + race.round_limit(STUDY))
    recorded = study(LARGEST, [FAST], cases=[CASE], sizes=SIZES, launches=len(rounds), noise=Noise(0.01, 0, 0.003))
    wanted: list[int] = []

    class Noting(Replay):
        def run(self, task: Task) -> None:
            wanted.extend(item.size for item in task.items if item.size not in SIZES)
            super().run(task)

    replay = Noting(recorded, rounds=rounds, start_seconds=1.0, measure=STUDY.measure)
    matrix = Matrix((CaseMatrix(CASE, SIZES, (DEFAULT, FAST)),), (), CALL_SCOPE)
    race.run(matrix, STUDY, replay)
    assert wanted == [6144], "asked for once"
    assert not replay.exhausted()
    assert {s.size for s in replay.samples()} <= set(SIZES)


def test_launch_settings_without_a_launch_are_known(tmp_path: Path) -> None:
    ucx, cyclic = Setting({"pml": "ucx"}), Setting({"placement": "cyclic"})
    matrix = Matrix((CaseMatrix(CASE, (4096,), (DEFAULT, FAST, ucx, cyclic)),), (), CALL_SCOPE)
    path = tmp_path / "study.db"
    with Store.create(path, name="t", config="{}", method="race", machine=machine(), meta=META) as store:
        assert never_launched(store, STUDY, matrix) == ["default", "placement=cyclic", "pml=ucx"]
        for setting in (DEFAULT, ucx):
            store.end_launch(store.begin_launch(setting, 1, 2, 1, "mpirun", False), "done", "", 1.0)
        assert never_launched(store, STUDY, matrix) == ["placement=cyclic"]
        classic = STUDY.model_copy(update={"method": STUDY.method.model_copy(update={"name": "classic"})})
        assert never_launched(store, classic, matrix) == []
