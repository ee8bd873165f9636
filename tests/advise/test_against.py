"""The program's calls against the benchmark's: which stand out, and which reasons the profile leaves."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np

from tests.advise.made import Call, profile
from tests.advise.test_predict import CASE, PLANS, SIZES
from tests.decide.synthetic import Noise, study, study_data
from unisono.advise.advice import advise
from unisono.advise.against import Against, against
from unisono.advise.evidence import StudyEvidence
from unisono.advise.mix import mix_of
from unisono.core.vocabulary import Case, Setting
from unisono.profile.recorded import PAIR

BENCHMARK = 84e-6
"""Seconds of a call of any size."""


def evidence(case: Case = CASE) -> StudyEvidence:
    def seconds(case: Case, size: int, setting: Setting) -> float:
        return BENCHMARK

    return StudyEvidence(
        study_data(study(seconds, [], cases=[case], sizes=SIZES, launches=4, noise=Noise(0.01, 0, 0.003))), PLANS
    )


def far(call: Call, fastest: float = math.nan) -> list[Against]:
    made = profile([call])
    made.cells["time_min"] = fastest
    found = against(mix_of(made), [evidence()])
    assert all(isinstance(each, Against) for each in found)
    return [each for each in found if isinstance(each, Against)]


def test_calls_that_take_as_long_as_the_benchmarks_are_not_named() -> None:
    assert far(Call("MPI_Alltoall", size=1 << 14, calls=10_000, time=2 * BENCHMARK * 10_000)) == []
    # most of it is waiting
    late = Call("MPI_Alltoall", size=1 << 14, calls=1000, time=4.0, waiting=4.0 - BENCHMARK * 1000)
    assert far(late) == []
    # sizes that nobody measured, and time that is not worth a word
    assert far(Call("MPI_Alltoall", size=1 << 22, calls=10, time=4.0)) == []
    assert far(Call("MPI_Alltoall", size=1 << 14, calls=10, time=0.1)) == []


def test_a_call_of_15_ms_against_84_us() -> None:
    """Every call is slow, waiting was taken off, and fetching 512 KiB from memory takes a few milliseconds at most."""
    (found,) = far(Call("MPI_Alltoall", size=1 << 14, calls=200, time=4.0, waiting=1.0), fastest=10e-3)
    assert 14e-3 < found.call < 16e-3 and 80e-6 < found.benchmark < 88e-6
    assert "Alltoall from main takes 15 ms a call without waiting, but the benchmark takes 84" in found.sentence
    assert [reason.split(" (")[0] for reason in found.likely] == ["derived datatypes"]
    assert [reason.split(" (")[0] for reason in found.excluded] == [
        "late arrival", "a few disturbed calls", "cold buffers or memory",
    ]  # fmt: skip


def test_what_may_be_the_reason() -> None:
    (found,) = far(Call("MPI_Alltoall", size=1 << 18, calls=1000, time=2.0, waiting=0.0), fastest=1e-4)
    likely = " ".join(found.likely)
    assert "cold buffers" in likely and "the fastest call takes 100 us" in likely
    (first,) = far(Call("MPI_Alltoall", size=1 << 14, calls=5, time=2.0, waiting=0.0))
    assert "there are 5 a rank" in " ".join(first.likely)
    assert "disturbed (the profile does not tell" in " ".join(first.likely)
    (late,) = far(Call("MPI_Alltoall", size=1 << 14, calls=1000, time=[0.1, 2.0, 2.0, 2.0]))
    assert "the rank with the least time in it takes 100 us" in " ".join(late.likely)
    (unknown,) = far(Call("MPI_Alltoall", size=1 << 14, calls=1000, time=2.0))
    assert "--split-waiting tells" in " ".join(unknown.likely)
    assert "late arrival" not in " ".join(unknown.excluded)


def test_the_advice_says_so() -> None:
    call = Call("MPI_Alltoall", size=1 << 14, calls=200, time=4.0, waiting=1.0)
    advice = advise(mix_of(profile([call])), PLANS, [evidence()])
    (said,) = [
        sentence for sentence in advice.sentences() if "a setting that is faster in the benchmark need not" in sentence
    ]
    document = json.loads(json.dumps(advice.as_dict(), allow_nan=False))
    (kept,) = document["against_benchmark"]
    assert kept["spot"] == "Alltoall from main" and kept["call"] > 100 * kept["benchmark"]
    assert kept["likely"] and said == advice.against[0].sentence


def test_a_message_of_15_ms_against_an_exchange_of_84_us() -> None:
    case = Case("exchange", 1, 4)
    made = profile([Call("MPI_Send", size=1 << 14, calls=200, time=4.0, waiting=1.0)])
    mix = mix_of(replace(made, pairs=np.array([(0, 1, 50, 1), (1, 0, 50, 1)], PAIR)))
    data = study(lambda *_: BENCHMARK, [], cases=[case], sizes=SIZES, launches=4, noise=Noise(0.01, 0, 0.003))
    known = [replace(sample, condition=mix.condition(case)) for sample in data]
    (found,) = against(mix, [StudyEvidence(study_data(known), PLANS)])
    assert "Send from main takes 15 ms a call without waiting, but the benchmark takes 84" in found.sentence
    assert "unisono advise --measure" not in found.sentence  # which replays collectives alone
