"""What a tuning saves of nonblocking collectives: of the call and of the wait for it, and of nothing else."""

from __future__ import annotations

import math

import pytest

from tests.advise.made import RANKS, Call, profile
from tests.decide.synthetic import Noise, scaled, study, study_data
from tests.tuning.samples import plan, rule, tuning
from unisono.advise.advice import Advice, advise
from unisono.advise.changes import changes
from unisono.advise.evidence import StudyEvidence
from unisono.advise.gaps import commands, gaps
from unisono.advise.kinds import NONBLOCKING, OTHER_COLLECTIVE
from unisono.advise.measuring import adjusted, weights_of
from unisono.advise.mix import Mix, mix_of
from unisono.advise.overlap import overlap_sentences
from unisono.advise.predict import TRANSFER, Prediction, predict
from unisono.core.vocabulary import Case, Setting
from unisono.profile.recorded import UNKNOWN

CASE = Case("iallreduce", 1, RANKS)
FAST = Setting({"pml": "fast"})
SIZES = (8, 64, 512, 4096)
PLANS = tuning(
    plan(1, RANKS, {"pml": "fast"}, {"iallreduce": 2.0}, (rule("iallreduce", 0, None, {}, gain=2.0, sizes=SIZES),)),
    plan(1, RANKS, gain={"iallreduce": 1.0}),
)
CALLS = 1000


def measured(factor: float) -> StudyEvidence:
    """A study in which FAST takes `factor` times as long as the default."""
    noise = Noise(0.01, 0, 0.003)
    samples = study(scaled({FAST: factor}), [FAST], cases=[CASE], sizes=SIZES, launches=8, noise=noise)
    return StudyEvidence(study_data(samples), PLANS)


ALONE = CALLS * measured(1.0).seconds(CASE, None, 64)
"""Seconds a rank that so many calls and the waits for them take in the benchmark, where nothing is computed between."""


def mix(waited: float, call: float = 0.0, wall: float = 100 * ALONE) -> Mix:
    """A program that waits so many seconds a rank for its calls, which take `call` themselves."""
    calls = [
        Call("MPI_Iallreduce", size=64, calls=CALLS, time=call, completion=waited),
        Call("MPI_Wait", size=UNKNOWN, calls=CALLS, time=waited, completion=waited),
    ]
    return mix_of(profile(calls, wall=wall))


def fast(of: Mix, factor: float) -> Prediction:
    return predict(of, [measured(factor)], [FAST])[0]


def test_a_call_and_the_wait_for_it_are_one_spot() -> None:
    found = mix(0.75 * ALONE, 0.25 * ALONE)
    (begun,) = found.spots  # of MPI_Wait nothing is left
    assert (begun.kind, begun.case) == (NONBLOCKING, CASE)
    assert begun.time == pytest.approx(RANKS * ALONE) and begun.completion == pytest.approx(0.75 * RANKS * ALONE)
    assert [(use.size, use.calls) for use in begun.uses] == [(64, RANKS * CALLS)]
    assert weights_of(found)["iallreduce"] == pytest.approx(0.01)


def test_without_computation_it_is_as_a_blocking_one() -> None:
    found = fast(mix(ALONE), 0.5).saving
    assert found.mid == pytest.approx(0.01 * (1 - 0.5 ** TRANSFER[1]), rel=0.05)
    assert 0 < found.low < found.mid < found.high < 0.01


@pytest.mark.parametrize("waited", [0.5, 0.1, 0.01])
def test_overlapped_time_cannot_be_saved(waited: float) -> None:
    """Twice as fast as the wait is long, the operation may be over before anybody waits: then all of the wait is saved,
    and never more."""
    found = fast(mix(waited * ALONE), 0.25).saving
    assert found.high == pytest.approx(0.01 * waited)
    assert found.mid == pytest.approx(0.01 * waited * (1 - 0.25 ** TRANSFER[1]), rel=0.05)
    assert 0 < found.low < found.mid


def test_what_is_waited_longer_than_the_operation_takes_is_no_transfer() -> None:
    """Ranks that come late, of which the profile does not tell."""
    found, alone = (fast(mix(waited * ALONE), 0.5).saving for waited in (1.5, 1.0))
    assert found.mid == pytest.approx(alone.mid, rel=0.05)
    assert found.high > alone.high


def test_a_slower_one_may_outlast_the_computation() -> None:
    hidden, alone = (fast(mix(waited * ALONE), 2.0).saving for waited in (0.1, 1.0))
    assert hidden.high <= 0 and alone.high < 0
    assert hidden.low == pytest.approx(alone.low, rel=0.1)
    assert hidden.mid == pytest.approx(alone.mid / 10, rel=0.1)


def test_a_wait_that_nobody_saw_is_not_predicted() -> None:
    found = mix_of(profile([Call("MPI_Iallreduce", size=64, time=1.0)]))
    assert [spot.kind for spot in found.spots] == [OTHER_COLLECTIVE]
    (told,) = fast(found, 0.5).spots
    assert told.effect is None and "how long the program waits for it is not in the profile" in told.unknown
    assert gaps(found, []) == []


@pytest.mark.parametrize("function", ["MPI_Allreduce_init", "MPI_Alltoallw_init", "MPI_Neighbor_alltoallv_init"])
def test_what_no_profile_tells(function: str) -> None:
    """Older profiles, and those in which no start was seen to complete."""
    for completion in (math.nan, 0.5):
        found = mix_of(profile([Call(function, size=64, time=1.0, completion=completion)]))
        assert [spot.kind for spot in found.spots] == [OTHER_COLLECTIVE]
        (told,) = fast(found, 0.5).spots
        assert "how long the program waits for it is not in the profile" in told.unknown
        assert gaps(found, []) == []


def persistent(waited: float) -> Mix:
    """Two requests are made, and started so many times; seconds a rank in the starts, and in the waits for them."""
    calls = [
        Call("MPI_Allreduce_init", size=64, calls=2, time=0.0, completion=waited, starts=CALLS),
        Call("MPI_Start", size=64, calls=CALLS, time=0.25 * waited, completion=0.25 * waited),
        Call("MPI_Wait", size=UNKNOWN, calls=CALLS, time=0.75 * waited, completion=0.75 * waited),
    ]
    return mix_of(profile(calls, wall=100 * ALONE))


def test_starts_and_waits_of_a_persistent_one_are_one_spot() -> None:
    (made,) = persistent(ALONE).spots
    case = Case("allreduce_init", 1, RANKS)
    assert (made.kind, made.case, made.calls) == (NONBLOCKING, case, CALLS)
    assert made.time == pytest.approx(RANKS * ALONE)
    assert [(use.size, use.calls) for use in made.uses] == [(64, RANKS * CALLS)]


def test_a_persistent_one_is_predicted_by_its_own_measurements() -> None:
    """As a nonblocking one is; without them nothing is, and what measures them is said."""
    noise = Noise(0.01, 0, 0.003)
    case = Case("allreduce_init", 1, RANKS)
    samples = study(scaled({FAST: 0.5}), [FAST], cases=[case], sizes=SIZES, launches=8, noise=noise)
    own = StudyEvidence(study_data(samples), PLANS)
    found = predict(persistent(ALONE), [own], [FAST])[0].saving
    alike = fast(mix(ALONE), 0.5).saving
    assert (found.low, found.mid, found.high) == pytest.approx((alike.low, alike.mid, alike.high), rel=0.1)
    (told,) = fast(persistent(ALONE), 0.5).spots
    assert told.effect is None and told.unknown
    (gap,) = gaps(persistent(ALONE), [measured(0.5)], worth=0.0)
    assert (gap.case, gap.sizes) == (case, (64,))


def test_what_was_not_measured_can_be() -> None:
    found = gaps(
        mix_of(
            profile(
                [
                    Call("MPI_Iallreduce", size=1 << 20, time=0.1, completion=2.0),
                    Call("MPI_Ibarrier", size=0, time=0.1, completion=1.0),
                    Call("MPI_Wait", size=UNKNOWN, time=3.0, completion=3.0),
                ]
            )
        ),
        [measured(0.5)],
    )
    assert [(gap.case, gap.sizes) for gap in found] == [(CASE, (1 << 20,)), (Case("ibarrier", 1, RANKS), (0,))]
    assert [gap.share for gap in found] == pytest.approx([0.21, 0.11])
    lines = commands(found, 64)
    assert "--collective iallreduce" in lines[0] and "--collective ibarrier" in lines[1]
    assert adjusted({CASE: (1, 64)}) == {CASE: (4, 64)}


def advice(of: Mix, factor: float) -> Advice:
    return advise(of, PLANS, [measured(factor)])


def test_the_advice_reads_right() -> None:
    found = advice(mix(10 * ALONE, 5 * ALONE), 0.2)
    assert found.chosen is not None and found.chosen.launch == FAST
    assert found.weights == {"iallreduce": 0.15}
    said = " ".join(found.sentences())
    assert "Iallreduce from main, 64 B, is 15 % of your time; 67 % of that is waiting for it" in said
    assert "15 % of the time is in nonblocking and persistent collectives, 67 % of that in calls that start" in said
    assert "not measured" not in said.replace("Waiting was not measured", "")


def test_what_is_hidden_and_what_is_waited_beyond() -> None:
    def said(waited: float) -> list[str]:
        return overlap_sentences(mix(waited * ALONE, wall=10 * ALONE), [measured(1.0)])

    (hidden,) = said(0.4)
    assert hidden.startswith("Iallreduce from main costs ") and "hides the rest behind its computing" in hidden
    (beyond,) = said(4.0)
    assert "waiting for other ranks: they come late, " in beyond
    assert said(1.0) == []
    assert overlap_sentences(mix(0.4 * ALONE, wall=1000 * ALONE), [measured(1.0)]) == []  # of little time
    assert overlap_sentences(mix(4 * ALONE, wall=10 * ALONE), []) == []  # not measured


def test_a_change_of_what_was_tuned_is_no_side_effect() -> None:
    def ran(waited: float) -> list[Call]:
        return [
            Call("MPI_Iallreduce", size=64, time=0.1, completion=waited),
            Call("MPI_Wait", size=UNKNOWN, time=waited + 0.1, completion=waited),
        ]

    before, after = ([profile(ran(waited))] * 2 for waited in (3.0, 1.0))
    (call,) = changes(before, after, ["iallreduce"]).changed
    assert (call.function, call.side_effect) == ("MPI_Iallreduce", False)
    assert (call.before.mid, call.after.mid) == pytest.approx((12.4, 4.4))
    (other,) = changes(before, after, ["allreduce"]).changed
    assert other.side_effect
