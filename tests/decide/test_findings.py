"""Words and numbers agree: every number in a finding's text is read back and held against the measurements."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.decide import synthetic
from tests.decide.synthetic import SIZES, Noise, flat, random_landscape, scaled, study
from unisono.core.sizes import parse_size
from unisono.core.vocabulary import DEFAULT, Case, Sample, Setting
from unisono.decide import sentences
from unisono.decide.decide import decide
from unisono.decide.findings import findings
from unisono.decide.table import tables
from unisono.tuning.finding import Finding

CASES = (Case("allreduce", 1, 24), Case("alltoall", 1, 24))
SIZE = r"(\d+(?:\.\d+)? (?:B|KiB|MiB|GiB))"
TIMES = r"(\d+(?:\.\d+)?)x"


def said(samples: Sequence[Sample], fixed: Sequence[Setting] = ()) -> list[Finding]:
    return [f for table in tables(samples, "median").values() for f in findings(table, 0.03, 0.95, fixed)]


def measured_gain(samples: Sequence[Sample], case: Case, size: int, setting: Setting, base: Setting) -> float:
    """Plainly: geometric mean over rounds of the base's time / the setting's."""

    def by_round(wanted: Setting) -> dict[int, float]:
        rounds: dict[int, list[float]] = {}
        for s in samples:
            if (s.case, s.size, s.setting) == (case, size, wanted):
                rounds.setdefault(s.round, []).append(math.log(s.median))
        return {number: sum(logs) / len(logs) for number, logs in rounds.items()}

    ours, theirs = by_round(setting), by_round(base)
    common = ours.keys() & theirs.keys()
    return math.exp(sum(theirs[r] - ours[r] for r in common) / len(common))


def stated_range(text: str, sizes: Sequence[int]) -> tuple[int, int]:
    """The message sizes a sentence is about, read from its words."""
    if match := re.search(rf"at all measured sizes \({SIZE} to {SIZE}\)", text):
        return parse_size(match[1]), parse_size(match[2])
    if match := re.search(rf"from {SIZE} to {SIZE}", text):
        return parse_size(match[1]), parse_size(match[2])
    if match := re.search(rf"from {SIZE} up", text):
        return parse_size(match[1]), sizes[-1]
    if match := re.search(rf"up to {SIZE}", text):
        return sizes[0], parse_size(match[1])
    if match := re.search(rf"at {SIZE}", text):
        return parse_size(match[1]), parse_size(match[1])
    return sizes[0], sizes[-1]


def stated_times(text: str) -> list[float]:
    return [float(number) for number in re.findall(TIMES, text)]


def compared(finding: Finding) -> tuple[Setting, Setting]:
    """The setting a finding is about and the one it is compared with, from its own words."""
    text = finding.text.split(": ", 1)[1]
    context = re.search(r" under ([\w=, ]+?) is (?:faster|slower|mixed)", text)
    rest = Setting(dict(part.split("=") for part in context[1].split(", "))) if context else DEFAULT
    assert (" alone" in text) == bool(context)
    assert ("the default" in text) == (not context)
    assert finding.parameter is not None and finding.value is not None
    if finding.parameter == "algorithm":
        return rest | {"coll": "tuned", "algorithm": finding.value}, rest
    return rest | {finding.parameter: finding.value}, rest


def check(finding: Finding, samples: Sequence[Sample], sizes: Sequence[int]) -> None:
    """Range, direction and strength of one better, worse or mixed finding."""
    assert finding.case is not None and finding.gain is not None
    assert finding.text.startswith(f"{finding.case}: ")
    assert finding.text.endswith(".")
    first, last = stated_range(finding.text, sizes)
    assert (first, last) == (finding.first, finding.last)
    setting, base = compared(finding)
    gains = [measured_gain(samples, finding.case, size, setting, base) for size in sizes if first <= size <= last]
    strongest, weakest = (max(gains), min(gains)) if finding.kind != "worse" else (1 / min(gains), 1 / max(gains))
    numbers = stated_times(finding.text)
    if finding.kind == "mixed":
        assert "is mixed" in finding.text
        assert numbers == [pytest.approx(max(gains), rel=0.06), pytest.approx(1 / min(gains), rel=0.06)]
        return
    word = "faster" if finding.kind == "better" else "slower"
    assert f"is {word} than" in finding.text
    assert finding.gain.low <= finding.gain.mid <= finding.gain.high
    assert (finding.gain.low > 1) == (finding.kind == "better")
    assert (finding.gain.high < 1) == (finding.kind == "worse")
    assert numbers[0] == pytest.approx(weakest, rel=0.06)
    assert numbers[-1] == pytest.approx(strongest, rel=0.06)
    assert 1 <= len(numbers) <= 2


@pytest.mark.parametrize("seed", range(6))
def test_words_and_numbers_agree(seed: int) -> None:
    matrix = synthetic.settings(2, 2, 3)
    samples = study(
        random_landscape(seed, matrix), matrix, cases=CASES, launches=5, noise=Noise(0.02, sample=0.01), seed=seed
    )
    found = [f for f in said(samples) if f.kind in ("better", "worse", "mixed")]
    assert len(found) >= 4
    for finding in found:
        check(finding, samples, SIZES)


def kinds(found: Sequence[Finding], parameter: str, value: str) -> list[tuple[str, int | None, int | None]]:
    return [(f.kind, f.first, f.last) for f in found if f.parameter == parameter and f.value == value]


HCOLL, BASIC, UCC = (Setting({"coll": name}) for name in ("hcoll", "basic", "ucc"))
THRESHOLDS = [Setting({"UCX_RNDV_THRESH": value}) for value in ("4kb", "16kb")]
CYCLIC = Setting({"placement": "cyclic"})


def machine(case: Case, size: int, setting: Setting) -> float:
    """hcoll: 1.7x faster up to 4 KiB, slower above; basic: 3.1x slower at 8 KiB; 16kb helps ucc at medium sizes; cyclic
    is slower from 64 KiB up; recursive doubling comes and goes."""
    seconds = flat(case, size, setting)
    component = setting.get("coll")
    if component == "hcoll":
        seconds *= 0.6 if size <= 4096 else 1.8
    if component == "basic" and size == 8192:
        seconds *= 3.1
    if component == "ucc" and setting.get("UCX_RNDV_THRESH") == "16kb" and 4096 <= size <= 65536:
        seconds *= 0.75
    if setting.get("placement") == "cyclic" and size >= 65536:
        seconds *= 1.3
    if setting.get("algorithm") == "recursive_doubling":
        seconds *= 0.7 if math.log2(size) % 8 < 4 else 1.5
    return seconds


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    calls = [DEFAULT, HCOLL, BASIC, UCC, Setting({"coll": "tuned", "algorithm": "recursive_doubling"})]
    matrix = [outer | inner for outer in (DEFAULT, *THRESHOLDS, CYCLIC) for inner in calls]
    return study(machine, matrix, cases=CASES[:1], launches=5, noise=Noise(0.02, sample=0.005, drift=0.05), seed=2)


@pytest.fixture(scope="module")
def found(samples: list[Sample]) -> list[Finding]:
    return said(samples)


def test_better_here_and_worse_there(found: list[Finding]) -> None:
    assert kinds(found, "coll", "hcoll") == [("better", 8, 4096), ("worse", 8192, SIZES[-1])]
    better = next(f.text for f in found if f.kind == "better" and f.value == "hcoll")
    assert re.fullmatch(
        r"allreduce, 1 x 24 ranks: hcoll is faster than the default up to 4 KiB, 1\.\d+x to 1\.\d+x as fast\.", better
    )


def test_a_singular_point(found: list[Finding]) -> None:
    (point,) = [f for f in found if f.kind == "singular point"]
    assert (point.parameter, point.value, point.first, point.last) == ("coll", "basic", 8192, 8192)
    assert "basic shows a singular point at 8 KiB: " in point.text
    assert "as long as its neighbours suggest." in point.text
    (times,) = stated_times(point.text)
    assert times == pytest.approx(3.1, rel=0.1)
    assert point.gain is not None
    assert 1 / point.gain.mid == pytest.approx(times, rel=0.05)


def test_a_step_is_no_singular_point() -> None:
    def stepping(case: Case, size: int, setting: Setting) -> float:
        return flat(case, size, setting) * (4 if size >= 8192 else 1)

    steady = study(stepping, [HCOLL], cases=CASES[:1], launches=5, noise=Noise(0.02, sample=0.005))
    assert [f for f in said(steady) if f.kind == "singular point"] == []


def test_what_the_default_shows_too_is_said_once() -> None:
    def peak(case: Case, size: int, setting: Setting) -> float:
        return flat(case, size, setting) * (2.5 if size == 8192 else 1)

    peaked = study(peak, [HCOLL, BASIC], cases=CASES[:1], launches=5, noise=Noise(0.02, sample=0.005))
    (point,) = [f for f in said(peaked) if f.kind == "singular point"]
    assert "the default shows a singular point at 8 KiB" in point.text


def test_no_difference_and_how_well_it_is_known(found: list[Finding]) -> None:
    (none,) = [f for f in found if f.parameter == "UCX_RNDV_THRESH" and f.kind == "no difference"]
    assert none.value == "4kb, 16kb"
    assert "UCX_RNDV_THRESH (4kb, 16kb) makes no significant difference" in none.text
    (limit,) = stated_times(none.text)
    assert none.gain is not None
    assert limit == pytest.approx(none.gain.high, rel=0.01)
    assert none.gain.low == pytest.approx(1 / none.gain.high)
    assert 1.03 < limit < 1.2


def test_up_to_where_a_parameter_does_not_matter(found: list[Finding]) -> None:
    assert kinds(found, "placement", "cyclic") == [("worse", 65536, SIZES[-1])]
    (quiet,) = [f for f in found if f.parameter == "placement" and f.kind == "no difference"]
    assert "placement makes no significant difference up to 32 KiB" in quiet.text
    assert (quiet.first, quiet.last) == (8, 32768)


def test_a_threshold_that_matters_under_one_component_only(found: list[Finding]) -> None:
    (under,) = [f for f in found if f.parameter == "UCX_RNDV_THRESH" and f.kind == "better"]
    assert " under coll=ucc is faster than coll=ucc alone from 4 KiB to 64 KiB" in under.text
    assert under.value == "16kb"


def test_both_ways_in_turns_is_mixed(found: list[Finding], samples: list[Sample]) -> None:
    (mixed,) = [f for f in found if f.kind == "mixed"]
    assert (mixed.parameter, mixed.value) == ("algorithm", "recursive_doubling")
    check(mixed, samples, SIZES)


def test_one_launch_is_too_few_to_tell() -> None:
    once = study(machine, [HCOLL, *THRESHOLDS], cases=CASES[:1], launches=1)
    texts = [f.text for f in said(once)]
    assert all("too few launches" in text for text in texts)
    assert len(texts) == 2


def test_what_could_not_be_told_is_one_line_with_a_count() -> None:
    once = study(machine, [HCOLL, *THRESHOLDS], cases=CASES, launches=1)
    (line,) = [f for f in decide(once, method="race").findings if f.kind == "not told"]
    assert (line.case, line.gain) == (None, None)
    assert line.text.startswith(
        f"{2 * len(CASES)} of the effects that the study looked for are too small to be told from noise ("
    )
    assert f"{CASES[0]}: UCX_RNDV_THRESH, coll" in line.text
    assert not any("too few launches" in f.text for f in decide(once, method="race").findings)
    often = study(machine, [HCOLL, *THRESHOLDS], cases=CASES, launches=5, noise=Noise(0.02, sample=0.005))
    assert not any(f.kind == "not told" for f in decide(often, method="race").findings)


def test_one_effect_that_could_not_be_told_is_said_in_the_singular() -> None:
    said = sentences.untold({CASES[0]: ["coll"]})
    assert said.startswith("One of the effects that the study looked for is too small to be told from noise (")
    assert f"({CASES[0]}: coll)" in said


def test_what_had_no_launch_is_said() -> None:
    samples = study(machine, [HCOLL], cases=CASES, launches=5)
    found = decide(samples, method="race", never=["pml=ucx", "placement=cyclic"])
    assert found.never == ("pml=ucx", "placement=cyclic")
    (line,) = [f for f in found.findings if "launched at all" in f.text]
    assert (line.kind, line.case) == ("not told", None)
    assert line.text.startswith("The budget ended before 2 launch settings, the first of them pml=ucx, were launched")


def test_a_value_that_was_measured_too_seldom_does_not_hide_what_is_known_of_another() -> None:
    samples = study(machine, THRESHOLDS, cases=CASES[:1], launches=5, noise=Noise(0.02, sample=0.005))
    first = min(sample.launch for sample in samples if sample.setting == THRESHOLDS[-1])
    kept = [s for s in samples if s.setting != THRESHOLDS[-1] or s.launch == first]
    kinds_of = {f.value: f.kind for f in said(kept) if f.parameter == "UCX_RNDV_THRESH"}
    assert kinds_of == {"4kb": "no difference", "16kb": "not told"}


def test_around_what_the_steps_fixed_when_the_default_has_no_neighbours() -> None:
    matrix = [
        Setting({"UCX_RNDV_THRESH": threshold, "placement": placement})
        for threshold in ("auto", "16kb")
        for placement in ("block", "cyclic")
    ]

    def seconds(case: Case, size: int, setting: Setting) -> float:
        return flat(case, size, setting) * (1.4 if setting.get("placement") == "cyclic" else 1)

    samples = study(seconds, matrix, cases=CASES[:1], launches=5, noise=Noise(0.02, sample=0.005))
    found = said(samples, [Setting({"UCX_RNDV_THRESH": "16kb", "placement": "block"})])
    texts = [f.text for f in found]
    assert any("cyclic placement under UCX_RNDV_THRESH=16kb is slower than block placement" in text for text in texts)
    assert any("UCX_RNDV_THRESH under placement=block (16kb) makes no significant difference" in text for text in texts)


def test_what_lies_beyond_a_claim_is_called_quiet_only_where_that_is_known() -> None:
    """One value is beyond any doubt faster at some sizes; of the others nothing is known, which is said once, of it."""
    ucx = Setting({"pml": "ucx"})
    fast, *others = (ucx | {"UCX_RNDV_THRESH": value} for value in ("4kb", "16kb", "64kb"))
    landscape = scaled({fast: dict.fromkeys(SIZES[6:12], 1e-5)})
    noise = Noise(launch=0.7, sample=0.35, size=0.35)
    claimed = 0
    for seed in range(8):
        samples = study(
            landscape, [ucx, fast, *others], cases=CASES[:1], sizes=SIZES[::2], launches=2, noise=noise, seed=seed
        )
        found = [f for f in said(samples) if f.parameter == "UCX_RNDV_THRESH"]
        claimed += any(f.kind in ("better", "mixed") for f in found)
        vague = [f for f in found if "too few launches" in f.text]
        assert len(vague) <= 1
        assert all(f.value and f.value in f.text for f in vague)
    assert claimed >= 4


def test_an_a_a_study_claims_nothing() -> None:
    """Same setting under many names: at least 95 % of cases say so, with drift, outliers and long tails."""
    noises = [
        Noise(0.03, sample=0.01, drift=0.1),
        Noise(0.05, size=0.03, sample=0.03, outlier_launches=0.05, outlier_samples=0.02),
        Noise(0.05, sample=0.05, tails=3.0, drift=0.1),
    ]
    matrix = synthetic.settings(3, 2, 4)
    claimed = 0
    cases = 0
    for seed, noise in enumerate(noises * 6):
        quiet = study(flat, matrix, cases=CASES, sizes=SIZES[::2], launches=3 + seed % 3, noise=noise, seed=seed)
        found = said(quiet)
        claimed += len({f.case for f in found if f.kind not in ("no difference", "not told")})
        cases += len(CASES)
    assert claimed <= 0.05 * cases


@given(st.floats(1.0, 500.0))
def test_factors_are_rounded_not_changed(value: float) -> None:
    (read,) = stated_times(sentences.times(value))
    assert read == pytest.approx(value, rel=0.051)
    assert sentences.times(1 / value) == sentences.times(value)


def test_how_factors_are_written() -> None:
    assert [sentences.times(x) for x in (1.0, 1.066, 1.3, 1.999, 2.14, 9.96, 13.8, 120.0)] == [
        "1x", "1.07x", "1.3x", "2x", "2.1x", "10x", "14x", "120x",
    ]  # fmt: skip
    assert sentences.by(1.301, 2.09) == "1.3x to 2.1x as fast"
    assert sentences.by(0.5, 0.8) == "taking 1.25x to 2x as long"
    assert sentences.by(1.3, 1.301) == "1.3x as fast"
    assert sentences.by(0.5, 0.5) == "taking 2x as long"


def test_how_ranges_are_written() -> None:
    sizes = (8, 64, 4096, 8192)
    assert sentences.where(8, 8192, sizes) == "at all measured sizes (8 B to 8 KiB)"
    assert sentences.where(8, 4096, sizes) == "up to 4 KiB"
    assert sentences.where(64, 8192, sizes) == "from 64 B up"
    assert sentences.where(64, 4096, sizes) == "from 64 B to 4 KiB"
    assert sentences.where(64, 64, sizes) == "at 64 B"
