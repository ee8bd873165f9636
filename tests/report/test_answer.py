"""Headline and proof: the words are the numbers."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest

from tests.report import synthetic_decisions
from unisono.core.interval import Interval
from unisono.core.vocabulary import Case, Setting
from unisono.decide.decision import Decision
from unisono.report import headline, proof
from unisono.report.page import lead
from unisono.report.view import CaseView, verdict
from unisono.study.data import StudyData
from unisono.tuning.plans import Joint, Plan, Rule

RING = Setting({"coll": "tuned", "algorithm": "ring"})


def decided(launch: Setting, gain: dict[str, Interval], rules: int = 0, nodes: int = 1, ppn: int = 4) -> Plan:
    case = Case(next(iter(gain)), nodes, ppn)
    made = tuple(Rule(case.collective, i, i, RING, gain[case.collective], (i,), 5) for i in range(rules))
    return Plan(nodes, ppn, launch, gain, made)


def decision_with(*plans: Plan) -> Decision:
    return Decision("race", 0.03, 0.95, "median", (), plans, ())


FASTER, SAME, SLOWER = Interval(1.21, 1.15, 1.28), Interval(1.0, 0.97, 1.03), Interval(0.9, 0.85, 0.95)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (
            decided(Setting({"UCX_RNDV_THRESH": "16kb"}), {"allreduce": FASTER, "alltoall": SAME}, 14),
            "UCX_RNDV_THRESH=16kb with 14 algorithm rules makes allreduce 1.21× (1.15–1.28) as fast; "
            "no difference for alltoall",
        ),
        (decided(Setting(), {"bcast": FASTER}, 2), "2 algorithm rules make bcast 1.21× (1.15–1.28) as fast"),
        (decided(Setting(), {"bcast": FASTER}, 1), "1 algorithm rule makes bcast 1.21× (1.15–1.28) as fast"),
        (
            decided(Setting({"preload": "unisono"}), {"bcast": FASTER}, 2),
            "Unisono's library (2 algorithm rules) makes bcast 1.21× (1.15–1.28) as fast",
        ),
        (
            decided(Setting({"preload": "unisono", "pml": "ucx"}), {"bcast": FASTER}, 1),
            "pml=ucx and Unisono's library (1 algorithm rule) makes bcast 1.21× (1.15–1.28) as fast",
        ),
        (
            decided(Setting({"pml": "ob1"}), {"allreduce": FASTER, "bcast": SLOWER}),
            "pml=ob1 makes allreduce 1.21× (1.15–1.28) as fast; bcast 0.90× (0.85–0.95) as fast",
        ),
        (decided(Setting({"pml": "ob1"}), {"bcast": SAME}), "pml=ob1 makes no difference for bcast"),
    ],
)
def test_the_sentence(plan: Plan, words: str) -> None:
    (answer,) = headline.answers(decision_with(plan), {})
    assert answer.sentence == words
    assert headline.title([answer]) == f"On this machine, {words}."


def test_of_many_collectives_it_names_a_few() -> None:
    quick = {f"fast{i}": Interval(2 - 0.1 * i, 1.5 - 0.1 * i, 2.5 - 0.1 * i) for i in range(4)}
    gain = {**quick, **{f"faster{i}": FASTER for i in range(3)}, **{f"same{i}": SAME for i in range(8)}, "slow": SLOWER}
    (answer,) = headline.answers(decision_with(decided(Setting({"pml": "ob1"}), gain)), {})
    assert answer.sentence == (
        "pml=ob1 makes fast0 2.00× (1.50–2.50), fast1 1.90× (1.40–2.40), fast2 1.80× (1.30–2.30) and 4 others 1.21× to "
        "1.70× as fast; slow 0.90× (0.85–0.95) as fast; no difference for same0, same1, same2 and 5 others"
    )


def test_a_kept_default_says_what_it_was_compared_with(study: StudyData, decision: Decision) -> None:
    kept = replace(decision, plans=(decided(Setting(), {"allreduce": Interval(1, 1, 1)}, ppn=2),))
    (answer,) = headline.answers(kept, {})
    others = len({e.setting for e in decision.estimates}) - 1
    assert answer.sentence == (
        f"the default is kept: none of {others} other settings is sure to beat it by more than 3%"
    )


def test_settings_that_were_never_launched_are_not_called_worse(study: StudyData, decision: Decision) -> None:
    plans = (decided(Setting(), {"allreduce": Interval(1, 1, 1)}, ppn=2),)
    (answer,) = headline.answers(replace(decision, plans=plans, never=("pml=ucx", "placement=cyclic")), {})
    assert answer.sentence == (
        "the default is kept: the budget ended before 2 launch settings were launched at all, "
        "so nothing is known about them"
    )


def test_a_default_kept_for_lack_of_launches_does_not_claim_to_be_the_best(decision: Decision) -> None:
    few = tuple(replace(e, case=Case(e.case.collective, 1, 4), launches=1) for e in decision.estimates)
    kept = replace(decision, estimates=few, plans=(decided(Setting(), {"allreduce": Interval(1, 1, 1)}),))
    (answer,) = headline.answers(kept, {})
    assert answer.sentence == "the default is kept: too few launches worked to know of anything better"


def test_reproducible_sums_are_our_librarys_though_no_rule_is_set() -> None:
    plan = Plan(1, 2, Setting(), {"allreduce": Interval(1.0, 0.99, 1.01)}, ())
    case = Case("allreduce", 1, 2)
    proven = {case: proof.Proven(case, Interval(1.9, 1.8, 2.0), 15, "faster", ())}
    (answer,) = headline.answers(decision_with(plan), proven, "ranks")
    assert answer.sentence.startswith("our library with reproducible sums (ranks) makes allreduce 1.90× (")
    (unproven,) = headline.answers(decision_with(plan), {}, "ranks")
    assert "our library" not in unproven.sentence


def test_several_ranks_give_several_answers_and_a_headline_over_them() -> None:
    plans = [decided(Setting({"pml": "ob1"}), {"bcast": FASTER}), decided(Setting(), {"bcast": SAME}, 1, ppn=8)]
    found = headline.answers(decision_with(*plans), {})
    assert [(a.nodes, a.ppn) for a in found] == [(1, 4), (1, 8)]
    assert headline.title(found) == (
        "On this machine, tuning makes bcast up to 1.21× as fast (1\u00a0×\u00a04\u00a0ranks); "
        "the best setting depends on the ranks."
    )


def test_a_default_that_is_kept_for_all_ranks_does_not_depend_on_them() -> None:
    plans = [decided(Setting(), {"bcast": Interval(1, 1, 1)}, nodes=nodes, ppn=1) for nodes in (2, 4)]
    found = headline.answers(decision_with(*plans), {})
    assert headline.title(found) == "On this machine, the default is kept, whatever the number of ranks."
    proven = {Case("bcast", 2, 1): proof.Proven(Case("bcast", 2, 1), SAME, 5, "no difference", ())}
    (first, second) = headline.answers(decision_with(*plans), proven, "ranks")
    assert (first.kept, second.kept) == (False, True)  # the first is served by our library, whose sums repeat
    assert "depends on the ranks" in headline.title([first, second])


def test_no_decision_is_said() -> None:
    assert "no decision" in headline.title(headline.answers(decision_with(), {}))


def test_proven_gains_replace_the_studys_only_when_all_are_proven() -> None:
    plan = decided(Setting({"pml": "ob1"}), {"allreduce": FASTER, "bcast": SAME})
    fresh = {
        Case(name, 1, 4): proof.Proven(Case(name, 1, 4), Interval(1.11, 1.05, 1.17), 5, "faster", ())
        for name in ("allreduce", "bcast")
    }
    (answer,) = headline.answers(decision_with(plan), fresh)
    assert answer.proven
    assert "1.11× (1.05–1.17)" in answer.sentence
    del fresh[Case("bcast", 1, 4)]
    (answer,) = headline.answers(decision_with(plan), fresh)
    assert not answer.proven
    assert "1.21×" in answer.sentence


def test_what_is_sure_only_of_all_together_is_said_of_all_together() -> None:
    unsure = Interval(1.2, 0.95, 1.5)
    plan = decided(Setting({"pml": "ucx"}), {"allreduce": unsure, "bcast": unsure})
    plan = replace(plan, joint=Joint({"allreduce": 1.0, "bcast": 1.0}, FASTER))
    (answer,) = headline.answers(decision_with(plan), {})
    assert answer.sentence == "pml=ucx makes allreduce and bcast together 1.21× (1.15–1.28) as fast"


def test_intervals_are_set_back_and_all_else_is_escaped() -> None:
    assert lead("a<b 1.21× (1.15–1.28) as fast") == "a&lt;b 1.21×\u00a0<small>(1.15–1.28)</small> as fast"


@pytest.mark.parametrize(
    ("gain", "words"),
    [(FASTER, "faster"), (SAME, "no difference"), (SLOWER, "slower"), (Interval(1.5, 0, math.inf), "not told")],
)
def test_verdicts(gain: Interval, words: str) -> None:
    assert verdict(gain) == words


def test_the_proof_reads_what_verifying_writes(study: StudyData, decision: Decision) -> None:
    document = synthetic_decisions.verification(study, decision)
    fresh = proof.proven(document)
    assert set(fresh) == {Case(c, 1, 2) for c in ("allreduce", "alltoall", "bcast")}
    one = fresh[Case("allreduce", 1, 2)]
    assert one.launches == 5
    assert one.gain.mid == document["cases"][0]["gain"]["mid"]
    assert [s.size for s in one.sizes] == sorted({s.size for s in study.samples})
    assert proof.proven(None) == {}


def rows(views: list[CaseView], decision: Decision, document: dict[str, Any] | None) -> dict[str, Any]:
    table = proof.table(views, decision, proof.proven(document), document)
    return {"table": table, **{row["label"]: row for row in table["rows"]}}


def test_every_proven_case_is_a_row_with_both_intervals(
    study: StudyData, decision: Decision, views: list[CaseView]
) -> None:
    document = synthetic_decisions.verification(study, decision)
    found = rows(views, decision, document)
    assert found["table"]["heading"] == "Proof"
    assert found["allreduce"]["verdict"] == document["cases"][0]["verdict"]
    assert found["allreduce"]["launches"] == "5"
    assert str(found["allreduce"]["mark"]).count("<circle") + str(found["allreduce"]["mark"]).count("<rect") >= 3
    assert "5 fresh launches" in found["table"]["note"]
    assert found["table"]["failures"] == ["A tuned launch on 1 × 2 ranks failed (hung): no answer within 60 s"]


@pytest.mark.parametrize(("sizes", "said"), [(0, False), (1, False), (2, True), (9, True)])
def test_a_proof_that_contradicts_the_study_is_said_to(
    sizes: int, said: bool, study: StudyData, decision: Decision, views: list[CaseView]
) -> None:
    document = synthetic_decisions.verification(study, decision)
    view = next(view for view in views if view.case == Case("allreduce", 1, 2))
    expected = {estimate.size: estimate.gain for estimate in view.chosen if not estimate.setting.is_default}
    for at, size in enumerate(size for size in document["cases"][0]["sizes"] if size["size"] in expected):
        gain, factor = expected[size["size"]], 3.0 if at < sizes else 1.0
        size["gain"] = {"low": gain.low * factor, "mid": gain.mid * factor, "high": gain.high * factor}
    remarks = [r for r in rows(views, decision, document)["table"]["remarks"] if "the proof and the study differ" in r]
    assert [r.startswith("allreduce, 1 × 2 ranks: at ") for r in remarks] == [True] * said
    ordered = proof.table(views, decision, proof.proven(document), document, "placement")  # has another default
    assert not any("the proof and the study differ" in r for r in ordered["remarks"])


def test_wrong_results_are_a_bad_verdict(study: StudyData, decision: Decision, views: list[CaseView]) -> None:
    document = synthetic_decisions.verification(study, decision)
    document["cases"][0]["verdict"] = "wrong results"
    found = rows(views, decision, document)
    assert found["allreduce"]["verdict"] == "wrong results"
    assert found["allreduce"]["css"] == "worse"


def test_without_a_proof_the_studys_figures_are_said_to_be_that(decision: Decision, views: list[CaseView]) -> None:
    found = rows(views, decision, None)
    assert found["table"]["heading"] == "In the study"
    assert "there is no proof on fresh launches" in found["table"]["note"]
    assert found["allreduce"]["verdict"].endswith("in the study")
    assert found["allreduce"]["gain"] == views[0].gain


def test_interval_marks_carry_their_numbers(decision: Decision, views: list[CaseView]) -> None:
    mark = str(rows(views, decision, None)["allreduce"]["mark"])
    gain = views[0].gain
    assert gain is not None
    label = re.search(r'aria-label="([^"]+)"', mark)
    assert label is not None
    assert label[1].startswith(f"{gain.mid:.2f}×")


def test_what_was_not_told_makes_no_claim() -> None:
    wide = Interval(1.0, 0.4, 2.5)
    plan = decided(Setting({"pml": "ucx"}), {"allreduce": wide, "bcast": SAME})
    (answer,) = headline.answers(decision_with(plan), {})
    assert answer.sentence == "pml=ucx makes no difference for bcast; too few launches to tell for allreduce"
    (answer,) = headline.answers(decision_with(decided(Setting({"pml": "ucx"}), {"allreduce": wide})), {})
    assert answer.sentence == "pml=ucx: too few launches to tell for allreduce"
