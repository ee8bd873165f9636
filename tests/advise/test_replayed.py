"""What is replayed of a program, which condition is taken for its own, and what is said and predicted from it."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from tests.advise.made import RANKS, Call, profile
from tests.advise.test_predict import CASE, FAST, PLANS, SIZES
from tests.decide.synthetic import Noise, scaled, study, study_data
from tests.tuning.samples import machine
from unisono.advise.advice import advise
from unisono.advise.against import Against, Late, against
from unisono.advise.evidence import StudyEvidence
from unisono.advise.gaps import commands, gaps
from unisono.advise.measuring import matrix_for, study_for
from unisono.advise.mix import Mix, mix_of
from unisono.advise.predict import predict
from unisono.advise.replayed import Replays, Subject, arrival, condition_notes, matching, missing, replays, subjects
from unisono.core.vocabulary import DEFAULT, USUAL, Case, Condition
from unisono.machine.description import Cache
from unisono.search import race
from unisono.study.begin import begin
from unisono.study.store import Statistics

SIZE = 1 << 16
BUFFERS, CACHES = Condition("buffers"), Condition("caches")


def program(seconds: float, waiting: float = 0.0, calls: int = 400, fastest: float | None = None) -> Mix:
    """Alltoalls that take so long each, the fastest a little less unless told, and that every rank waits so long in
    besides."""
    made = profile(
        [Call("MPI_Alltoall", size=SIZE, calls=calls, time=(seconds + waiting) * calls, waiting=waiting * calls)],
        wall=max(10.0, 2 * (seconds + waiting) * calls),
    )
    made.cells["time_min"] = 0.9 * seconds if fastest is None else fastest
    return mix_of(made)


def known(warm: float, buffers: float, caches: float) -> Replays:
    return Replays(
        {(CASE, SIZE, Condition(cold)): s for cold, s in (("", warm), ("buffers", buffers), ("caches", caches))}
    )


def said(mix: Mix, found: Replays) -> Against:
    (one,) = against(mix, [], None, found)
    assert isinstance(one, Against)
    return one


def test_a_program_whose_buffers_are_cold() -> None:
    found = said(program(15e-3), known(84e-6, 9e-3, 11e-2))
    assert found.explained
    assert found.sentence.endswith(
        "In a benchmark on this machine the same call takes 84 us with warm buffers and 9 ms with cold "
        "ones: the program's 15 ms are memory bandwidth."
    )
    found = said(program(15e-3, fastest=math.nan), known(84e-6, 9e-3, 11e-2))
    assert found.explained and "the program's 15 ms may be memory bandwidth" in found.sentence
    found = said(program(15e-3), known(84e-6, 2e-4, 13e-3))
    assert found.explained and "13 ms with all caches emptied before it: the program's 15 ms are the" in found.sentence


def test_what_explains_a_part_or_nothing() -> None:
    found = said(program(15e-3), known(84e-6, 9e-4, 1e-3))
    assert not found.explained and "that explains a part of the program's 15 ms. Possible:" in found.sentence
    found = said(program(15e-3), known(84e-6, 85e-6, 90e-6))
    assert not found.explained
    assert "and 90 us with all caches emptied before it: that does not explain the program's 15 ms" in found.sentence
    assert "cold buffers" not in found.sentence.partition("Possible")[2]
    assert against(program(1e-4), [], None, known(84e-6, 2e-4, 3e-4)) == []


def test_a_profile_without_waiting_beside_what_was_replayed_for_another() -> None:
    made = mix_of(profile([Call("MPI_Alltoall", size=SIZE, calls=400, time=4.0)]))
    (found,) = against(made, [evidence(1.0)], None, known(84e-6, 9e-3, 11e-2))
    assert isinstance(found, Against) and not found.tested and "--split-waiting tells" in found.sentence
    assert matching(made, known(84e-6, 9e-3, 11e-2)) == {} and subjects(made) == []


def test_ranks_that_come_late() -> None:
    mix = program(1e-4, 10e-3)
    late = arrival(mix.spots[0].waits, CASE.ranks)
    found = replace(known(84e-6, 1e-4, 2e-4), inside={(CASE, SIZE, late): 9.8e-3})
    found = replace(found, calls={**found.calls, (CASE, SIZE, late): 7e-5})
    (one,) = against(mix, [], None, found)
    assert isinstance(one, Late) and one.explained
    assert "10.1 ms a call, 10 ms of it waiting" in one.sentence
    assert "84 us when all ranks come at once. It takes 9.8 ms when they come as late as in the program" in one.sentence
    assert "the program's 10.1 ms come from ranks that arrive late" in one.sentence
    assert json.loads(json.dumps(one.as_dict(), allow_nan=False))["explained"] is True
    (other,) = against(mix, [], None, replace(found, inside={(CASE, SIZE, late): 1e-3}))
    assert "does not explain" in other.sentence
    # the call itself takes longer, too, where ranks come late
    slow = replace(found, calls={**found.calls, (CASE, SIZE, late): 6e-4})
    both = against(program(8e-4, 10e-3), [], None, slow)
    assert [type(one) for one in both] == [Late, Against]
    assert "late ranks explain the program's 800 us, too." in both[1].sentence and both[1].explained


def waits_of(condition: Condition, ranks: int) -> list[float]:
    """How long each rank waits on average when they come so."""
    total = [0.0] * ranks
    for drawn in range(ranks):
        late = condition.late or (0.0,)
        comes = [late[r * len(late) // ranks] + condition.drawn * (r == drawn) for r in range(ranks)]
        total = [before + max(comes) - own for before, own in zip(total, comes, strict=True)]
    return [each / ranks for each in total]


@pytest.mark.parametrize("seed", range(40))
def test_ranks_replayed_wait_as_long_as_those_of_the_program(seed: int) -> None:
    draw = random.Random(seed)
    ranks = draw.choice([2, 3, 4, 16, 200])
    least = draw.choice([0.0, 1e-3])
    wanted = [least + draw.choice([0.0, 1.0]) * draw.uniform(0, 5e-3) for _ in range(ranks)]
    if max(wanted) == 0:
        return
    found = waits_of(arrival(wanted, ranks), ranks)
    for there, here in zip(wanted, found, strict=True):
        assert here == pytest.approx(there, rel=0.12, abs=0.15 * max(wanted))


def test_how_late_they_come() -> None:
    assert arrival((), 4) == arrival((0.0, 0.0), 2) == USUAL
    assert arrival((0.02, 1e-5), 2) == Condition(late=(0.0, 0.02))  # the last one's own time in the barrier
    assert arrival((1e-3, 1e-3), 2) == Condition(drawn=2e-3)
    many = arrival([1e-3] * 256, 100_000)
    assert many.late == () and many.drawn == pytest.approx(1e-3, rel=0.05)
    assert Condition(late=(0.0, 0.02)).comes_late and not Condition("caches").comes_late
    assert str(Condition("buffers", (0.0, 1.0))) == "cold buffers and late ranks" and str(USUAL) == ""


def test_what_is_worth_a_replay() -> None:
    calls = [
        Call("MPI_Alltoall", ("main", "a"), size=SIZE, time=3.0, waiting=1.0),
        Call("MPI_Alltoall", ("main", "b"), size=8, time=0.5, waiting=0.1),
        Call("MPI_Allreduce", size=2, time=1.0, waiting=0.0),
        Call("MPI_Bcast", time=0.1, waiting=0.0),  # too little
        Call("MPI_Reduce", time=1.0),  # nobody knows how much of it is waiting
        Call("MPI_Send", time=1.0),
    ]
    found = subjects(mix_of(profile(calls)))
    assert [(s.case.collective, s.sizes) for s in found] == [("alltoall", (8, SIZE)), ("allreduce", (4,))]
    assert [len(s.conditions) for s in found] == [4, 3]
    measured = Replays({(found[1].case, 4, condition): 1e-6 for condition in found[1].conditions})
    assert missing(found, measured) == found[:1]


def test_the_condition_that_comes_nearest_is_taken() -> None:
    found = known(1e-4, 2e-4, 1e-3)
    assert matching(program(1.1e-4), found) == {}
    assert matching(program(1.45e-4), found) == {}  # cold is nearer, but hardly
    assert matching(program(2.5e-4), found) == {CASE: BUFFERS}
    assert matching(program(5.0), found) == {CASE: CACHES}
    assert matching(program(5.0), Replays()) == {}
    # one call was as fast as a warm one: the others were disturbed, not cold
    assert matching(program(5.0, fastest=1.5e-4), found) == {}
    assert not said(program(5.0, fastest=1.5e-4), found).explained
    # where the fastest is not known, only what stands out counts
    assert matching(program(2.5e-4, fastest=math.nan), found) == {}
    assert matching(program(5.0, fastest=math.nan), found) == {CASE: CACHES}
    # ranks that come a little apart come together; far apart is no farther than it takes
    assert matching(program(1e-4, 5e-5), found) == {}
    (late,) = matching(program(1e-4, 0.9), found).values()
    assert late.cold == "" and late.drawn == 2e-3
    huge = machine().model_copy(update={"caches": [Cache(level="L3", bytes=1 << 30, shared_by=2)]})
    assert matching(program(5.0), replace(found, machine=huge)) == {CASE: BUFFERS}


def evidence(factor: float, condition: Condition = USUAL) -> StudyEvidence:
    samples = study(scaled({FAST: factor}), [FAST], cases=[CASE], sizes=SIZES, launches=8, noise=Noise(0.01, 0, 0.003))
    return StudyEvidence(study_data([replace(s, condition=condition) for s in samples]), PLANS)


def test_predicted_is_from_the_matching_condition() -> None:
    """With warm buffers FAST takes half the time, with cold ones just as long."""
    warm, cold = evidence(0.5), evidence(1.0, BUFFERS)
    usual = program(1e-3, calls=1000)
    matched = replace(usual, conditions={CASE: BUFFERS})
    for order in ([warm, cold], [cold, warm]):
        assert predict(usual, order, [FAST])[0].saving.mid > 0.03
        assert abs(predict(matched, order, [FAST])[0].saving.mid) < 0.01
    assert gaps(usual, [warm, cold]) == gaps(matched, [warm, cold]) == []
    (gap,) = gaps(matched, [warm])
    assert (gap.condition, gap.sizes) == (BUFFERS, (SIZE,))
    assert gap.reasons == ("the measurement had warm buffers, all ranks at once, but the program has cold buffers",)
    assert commands([gap], 4) == []
    both = advise(matched, PLANS, [warm, cold], replayed=known(84e-6, 1e-3, 2e-3))
    assert any("predicted from calls measured with cold buffers, as the program has them" in n for n in both.notes)
    assert any("memory bandwidth" in sentence for sentence in both.sentences())
    untested = advise(program(1e-3, fastest=5e-4), PLANS, [evidence(0.5)])
    assert (
        untested.gaps == ()
        and untested.against
        and "Measure again under the program's own conditions:" in untested.follow_up()
    )
    alone = advise(matched, PLANS, [warm])
    assert any("warm buffers, all ranks at once, though the program has cold buffers" in n for n in alone.notes)
    assert "Measure only what is missing:" not in alone.follow_up() and any(
        "--measure" in line for line in alone.follow_up()
    )


def test_messages_of_another_program_are_not_called_this_ones() -> None:
    """Studies beside a tuning are of whichever programs asked for them."""
    case, theirs, own = Case("exchange", 1, 4), ((0, 1), (1, 0)), ((0, 2), (2, 0))
    of = mix_of(profile([Call("MPI_Send", size=SIZE)]))
    of = replace(of, spots=tuple(replace(spot, case=case) for spot in of.spots))
    samples = study(scaled({}), [FAST], cases=[case], sizes=[SIZE], launches=4, noise=Noise(0.01, 0, 0.003))
    kept = StudyEvidence(study_data([replace(s, condition=Condition(partners=theirs)) for s in samples]), PLANS)
    of = replace(of, conditions={case: Condition(partners=own)})
    assert condition_notes(of, [kept]) == [
        "exchange, 1 x 4 ranks: measured were messages between other partners and of other sizes than the program's"
    ]
    assert [gap.reasons for gap in gaps(of, [kept])] == [("measured with the messages of another program",)]
    alike = replace(of, conditions={case: Condition(partners=theirs)})
    assert "as the program has them" in condition_notes(alike, [kept])[0] and gaps(alike, [kept]) == []


def test_a_study_measures_its_cases_under_their_conditions(tmp_path: Path) -> None:
    wanted = {CASE: (SIZE,), Case("bcast", 1, 4): (8,)}
    late = Condition("buffers", (0.0, 1e-3), 2e-3)
    here = machine()
    asked = study_for(wanted, here)
    matrix = matrix_for(asked, here, wanted, conditions={CASE: late})
    assert {c.case: c.condition for c in matrix.cases} == {CASE: late, Case("bcast", 1, 4): USUAL}
    items = [item for task in race.first_round(matrix, asked) for item in task.items]
    assert {(item.case, item.condition) for item in items} == {(CASE, late), (Case("bcast", 1, 4), USUAL)}
    with begin(tmp_path / "study.db", asked, here, matrix) as store:
        assert any("measured with cold buffers and late ranks, as the program" in note for note in store.notes())
        launch = store.begin_launch(DEFAULT, 1, 4, 1, "", False)
        numbers = (5, 0, "clock", 1e-6, 1e-6, 2e-6, 3e-6, 4e-6, 2e-6, 2e-6, True)
        store.add_sample(launch, "alltoall", SIZE, DEFAULT, Statistics(*numbers), b"")
        store.add_sample(launch, "alltoall", SIZE, DEFAULT, Statistics(*numbers, None, late.key, 5e-3), b"")
        nothing = replace(Statistics(*numbers), median=0.0)
        store.add_sample(launch, "bcast", 8, DEFAULT, nothing, b"")  # a clock that stands still tells nothing
        assert [(s.condition, s.inside) for s in store.samples()[:2]] == [(USUAL, None), (late, 5e-3)]
    found = replays([tmp_path / "study.db"])
    assert found.inside == {(CASE, SIZE, late): 5e-3} and found.machine == here
    assert found.calls == {(CASE, SIZE, USUAL): 2e-6, (CASE, SIZE, late): 2e-6}


def test_ranks_and_waits_of_a_profile() -> None:
    (spot,) = program(1e-4, 2e-4).spots
    assert spot.waits == pytest.approx((2e-4,) * RANKS)
    made = mix_of(profile([Call("MPI_Alltoall", time=1.0)]))
    assert made.spots[0].waits == () and math.isnan(made.spots[0].waiting)
    assert Subject(CASE, (8,), USUAL).conditions == (USUAL, BUFFERS, CACHES)
