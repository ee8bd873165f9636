"""From a decision to the document."""

from __future__ import annotations

from dataclasses import replace

from tests.tuning.samples import machine
from unisono.core.interval import Interval
from unisono.core.vocabulary import Case, Setting
from unisono.decide.decision import Decision
from unisono.decide.document import from_decision
from unisono.study.data import LaunchRow, StudyData
from unisono.tuning import stale
from unisono.tuning.document import parse, render
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Joint, Plan, Rule


def launch(number: int, status: str, *, oversubscribed: bool = False) -> LaunchRow:
    return LaunchRow(number, Setting(), 1, 4, 0, status, "", 1.0, "mpirun", oversubscribed)


def study(*launches: LaunchRow) -> StudyData:
    return StudyData(
        id="id-1",
        name="quick",
        created="2026-03-01T12:00:00Z",
        method="race",
        margin=0.03,
        confidence=0.95,
        weights={},
        machine=machine(),
        samples=(),
        launches=launches,
        limits={},
        notes=("placement folded",),
    )


CASE = Case("allreduce", 1, 4)
RULE = Rule(
    "allreduce",
    4096,
    None,
    Setting({"coll": "tuned", "algorithm": "ring"}),
    Interval(1.23456, 1.1, 1.4),
    (4096, 8192),
    3,
)
JOINT = Joint({"allreduce": 2.0}, Interval(1.23456, 1.15, 1.25))
DECISION = Decision(
    method="race",
    margin=0.03,
    confidence=0.95,
    statistic="median",
    estimates=(),
    plans=(
        Plan(1, 4, Setting({"pml": "ucx"}), {"allreduce": Interval(1.2, 1.1, 1.3)}, (RULE,), JOINT),
        Plan(1, 4, Setting(), {"allreduce": Interval(1.0, 1.0, 1.0)}, ()),
    ),
    findings=(
        Finding.of(CASE, "better", "ring is 1.2x faster", parameter="algorithm", value="ring", first=4096),
        Finding("folded", "block is cyclic here", parameter="placement"),
    ),
)


def test_everything_decided_is_in_the_document() -> None:
    made = from_decision(DECISION, study(launch(1, "done"), launch(2, "done"), launch(3, "hung")))
    assert made.name == "quick"
    assert made.study.id == "id-1"
    assert made.conditions.launches == 2
    assert made.conditions.ranks == (4,)
    assert made.conditions.notes == ("placement folded",)
    assert not made.conditions.oversubscribed
    assert [p.launch for p in made.plan] == [Setting({"pml": "ucx"}), Setting()]
    assert made.plan[0].rules[0].call == RULE.call
    assert made.plan[0].rules[0].gain.mid == 1.235  # four digits
    assert made.plan[0].joint is not None
    assert made.plan[0].joint.gain.mid == 1.235
    assert made.plan[1].joint is None
    assert made.weights == {"allreduce": 1.0}
    assert made.finding[0].collective == "allreduce"
    assert made.finding[1].collective is None
    assert made.finding[1].value is None
    assert parse(render(made), "here") == made


def test_oversubscription_is_said() -> None:
    assert from_decision(DECISION, study(launch(1, "done", oversubscribed=True))).conditions.oversubscribed


def test_ping_pong_weighs_nothing_unless_asked_for() -> None:
    both = {name: Interval(1.0, 1.0, 1.0) for name in ("allreduce", "pingpong")}
    decision = replace(DECISION, plans=(Plan(1, 4, Setting(), both, ()),))
    assert from_decision(decision, study()).weights == {"allreduce": 1.0, "pingpong": 0.0}
    asked = replace(decision, weights={"pingpong": 2.0})
    assert from_decision(asked, study()).weights == {"allreduce": 0.0, "pingpong": 2.0}


def test_a_tuning_goes_stale_when_the_machine_changes() -> None:
    made = from_decision(DECISION, study(launch(1, "done")))
    assert stale(made, machine()) == []
    (sentence,) = stale(made, machine("5.0.7"))
    assert "5.0.11" in sentence
    assert "5.0.7" in sentence
