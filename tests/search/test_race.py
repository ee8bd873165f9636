"""The race against a runner that is made up; what it decides: tests/decide/test_race.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tests.decide.synthetic import Bench, Noise, scaled
from tests.study.machines import machine
from tests.study.test_store import META
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, Case, Sample, Setting
from unisono.search import race
from unisono.search.search import never_launched
from unisono.study.config import Study
from unisono.study.data import Refusal
from unisono.study.engine import Task
from unisono.study.matrix import CaseMatrix, Matrix
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
