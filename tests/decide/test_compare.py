"""Studies against each other."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from itertools import product

import pytest
from rich.console import Console

from tests.decide.synthetic import SIZES, Landscape, Noise, flat, machine, scaled, study, study_data
from unisono.core.errors import UserError
from unisono.core.sizes import parse_size
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.decide.compare import compare
from unisono.decide.labels import label
from unisono.study.data import StudyData

CASES = (Case("allreduce", 1, 8), Case("alltoall", 1, 8))
FEW = SIZES[::2]
RING = Setting({"coll": "tuned", "algorithm": "ring"})
OB1 = Setting({"pml": "ob1"})
QUIET = Noise(launch=0.02, sample=0.01)


def nps(n: int, landscape: Landscape = flat, *, seed: int, launches: int = 5, noise: Noise = QUIET) -> StudyData:
    samples = study(landscape, [RING, OB1], cases=CASES, sizes=FEW, launches=launches, noise=noise, seed=seed)
    return study_data(samples, on=machine(numa_per_socket=n), name="nps")


def large_alltoall(factor: float) -> Landscape:
    def seconds(case: Case, size: int, setting: Setting) -> float:
        matters = case.collective == "alltoall" and size >= 32768
        return flat(case, size, setting) * (factor if matters else 1)

    return seconds


def test_where_one_study_is_faster() -> None:
    found = compare(nps(1, seed=1), nps(4, large_alltoall(1 / 1.25), seed=2))
    assert (found.reference, found.others) == ("NPS1", ("NPS4",))
    text = next(f.text for f in found.findings if f.kind == "better" and f.parameter == "default")
    match = re.fullmatch(
        r"alltoall, 1 x 8 ranks: NPS4 is faster than NPS1 from (\d+ KiB) up, ([\d.]+)x to ([\d.]+)x as fast;"
        r" no significant difference elsewhere\.",
        text,
    )
    assert match is not None, text
    assert parse_size(match[1]) == 32768
    assert 1.15 < float(match[2]) <= 1.25 <= float(match[3]) < 1.35
    assert found.verdict() == "faster"
    assert found.verdict("NPS4", "best") == "faster"


def test_the_numbers_of_a_sentence_are_those_of_the_rows() -> None:
    found = compare(nps(1, seed=1), nps(4, large_alltoall(1.4), seed=2))
    (finding,) = [f for f in found.findings if f.kind == "worse" and f.parameter == "default"]
    assert finding.case is not None and finding.first is not None and finding.last is not None
    gains = [
        row.gain.mid
        for row in found.rows
        if row.case == finding.case and row.kind == "default" and finding.first <= row.size <= finding.last
    ]
    numbers = [float(n) for n in re.findall(r"([\d.]+)x\b", finding.text.split("taking ")[1])]
    assert numbers[0] == pytest.approx(1 / max(gains), rel=0.02)
    assert numbers[-1] == pytest.approx(1 / min(gains), rel=0.02)
    assert "NPS4 is slower than NPS1 from 32 KiB up" in finding.text
    assert found.verdict() == "slower"


def test_no_difference() -> None:
    """Studies of the same machine agree, in 95 % of their cases or more."""
    silent = cases = 0
    for seed in range(12):
        noise = Noise(launch=0.05, sample=0.02, outlier_launches=0.05)
        found = compare(nps(1, seed=2 * seed, noise=noise), nps(4, seed=2 * seed + 1, noise=noise))
        silent += sum(f.kind == "no difference" for f in found.findings)
        cases += len(found.findings)
    assert silent >= 0.95 * cases
    assert "no significant difference between NPS4 and NPS1; a difference of 1." in found.findings[0].text


def test_drift_between_studies_is_a_difference() -> None:
    """Launches of different studies are not paired, so what all of one share shows."""
    found = compare(nps(1, seed=1), nps(4, lambda c, s, x: 0.7 * flat(c, s, x), seed=2))
    assert {f.kind for f in found.findings} == {"better"}
    assert all("at all measured sizes" in f.text and "elsewhere" not in f.text for f in found.findings)


def test_faster_here_and_slower_there_is_mixed() -> None:
    def seconds(case: Case, size: int, setting: Setting) -> float:
        return flat(case, size, setting) * (0.6 if size < 1024 else 1.5)

    found = compare(nps(1, seed=1), nps(4, seconds, seed=2))
    assert found.verdict() == "mixed"
    text = found.sentences[0]
    assert "NPS4 is faster than NPS1 up to 512 B, " in text
    assert ", and slower from 2 KiB up, taking " in text


def test_best_against_best() -> None:
    """Ring repairs what the second study's default lost: the defaults differ, the best do not."""
    slower = scaled({DEFAULT: 1.6, OB1: 1.6, RING: 1.0})
    found = compare(nps(1, seed=1), nps(4, slower, seed=2))
    assert found.verdict(kind="default") == "slower"
    assert found.verdict(kind="best") == "no difference"
    best = [row for row in found.rows if row.kind == "best"]
    assert {row.setting for row in best} == {RING}
    assert {row.reference_setting for row in best} == {DEFAULT}
    assert all(row.gain.mid == pytest.approx(row.reference_time / row.time, rel=0.05) for row in found.rows)


def test_three_studies() -> None:
    found = compare(nps(1, seed=1), nps(2, seed=2), nps(4, large_alltoall(0.7), seed=3))
    assert found.others == ("NPS2", "NPS4")
    assert found.verdict("NPS2") == "no difference"
    assert found.verdict("NPS4") == found.verdict() == "faster"


def test_what_differs_is_asked_of_the_machines() -> None:
    found = compare(nps(1, seed=1), nps(4, seed=2))
    assert found.differences["NPS4"] == ("NUMA nodes per socket: 1 there, 4 here",)
    given = compare(nps(1, seed=1), nps(4, seed=2), differences=[["the BIOS was updated"]])
    assert given.differences["NPS4"] == ("the BIOS was updated",)
    again = compare(nps(1, seed=1), nps(1, seed=2))
    assert any("how well such a measurement repeats" in note for note in again.notes)


def test_labels_tell_studies_apart() -> None:
    one, other = study_data([], on=machine(mpi="5.0.6")), study_data([], on=machine(mpi="5.0.11"))
    assert label([one, other]) == ["Open MPI 5.0.6", "Open MPI 5.0.11"]
    assert label([study_data([], name="a"), study_data([], name="b")]) == ["a", "b"]
    assert label([study_data([], on=machine(name="x")), study_data([], on=machine(name="y"))]) == ["x", "y"]
    assert label([nps(1, seed=1, launches=1), nps(4, seed=1, launches=1)]) == ["NPS1", "NPS4"]
    four = [study_data([], on=machine(numa_per_socket=n, mpi=mpi)) for n in (1, 4) for mpi in ("5.0.6", "5.0.11")]
    assert label(four)[:2] == ["NPS1, Open MPI 5.0.6", "NPS1, Open MPI 5.0.11"], "as few properties as tell all apart"
    tls = [machine().model_copy(update={"environment": {"UCX_TLS": t, "OMPI_X": "1"}}) for t in ("posix", "sysv")]
    assert label([study_data([], on=on) for on in tls]) == ["UCX_TLS=posix", "UCX_TLS=sysv"]
    twice = [replace(study_data([], name="a"), created=f"2026-11-{day}T10:30:00+00:00") for day in (21, 22)]
    assert label(twice) == ["a, 2026-11-21 10:30", "a, 2026-11-22 10:30"]
    mixed = [*twice, study_data([], on=machine(name="z"), name="a")]
    assert label(mixed)[1] == f"{twice[1].machine.name}, 2026-11-22 10:30"


def test_a_ratio_of_one_size_is_flagged() -> None:
    one = study_data(study(flat, [OB1], cases=CASES, sizes=FEW, launches=3), name="a")
    samples = study(flat, [OB1], cases=CASES, sizes=FEW[:1], launches=3)
    found = compare(one, study_data(samples, name="b"))
    notes = [note for note in found.notes if "were both measured only at" in note]
    assert [note.split(":")[0] for note in notes] == [str(case) for case in CASES], "once a case, not once a kind"
    assert not any("were both measured only at" in note for note in compare(one, one).notes)


def test_only_what_both_measured_is_compared() -> None:
    one = study_data(study(flat, [OB1], cases=CASES, sizes=FEW, launches=3), name="a")
    other = study_data(study(flat, [OB1], cases=CASES[:1], sizes=FEW[:4], launches=3), name="b")
    found = compare(one, other)
    assert {row.size for row in found.rows} == set(FEW[:4])
    assert "alltoall, 1 x 8 ranks: only in a." in found.notes
    nothing = study_data(study(flat, [OB1], cases=CASES, sizes=[7], launches=1), name="c")
    with pytest.raises(UserError, match="no case with a common message size"):
        compare(one, nothing)
    with pytest.raises(UserError, match="two studies"):
        compare(one)


def test_one_launch_each_claims_nothing() -> None:
    found = compare(nps(1, seed=1, launches=1), nps(4, large_alltoall(3.0), seed=2, launches=1))
    assert found.verdict() == "not told"
    assert all("too few launches" in text for text in found.sentences)


def test_json_and_terminal() -> None:
    found = compare(nps(1, seed=1), nps(4, large_alltoall(0.7), seed=2))
    document = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert document["verdict"] == {"NPS4": {"default": "faster", "best": "faster"}}
    assert len(document["rows"]) == len(list(product(CASES, FEW, ("default", "best"))))
    page = io.StringIO()
    Console(width=160, file=page).print(found.table())
    shown = page.getvalue()
    assert "What differs between NPS1 (there) and NPS4 (here):" in shown
    assert "- NUMA nodes per socket: 1 there, 4 here" in shown
    assert "NPS4 is faster than NPS1" in shown
    assert shown.count("allreduce, 1 x 8 ranks") >= len(FEW)
    single = compare(nps(1, seed=1, launches=1), nps(4, seed=2, launches=1))
    assert json.dumps(single.as_dict(), allow_nan=False)


def test_a_search_that_its_budget_ended_is_named() -> None:
    """Its best was compared as if there were none better."""
    whole, cut = replace(nps(1, seed=1), ended=True), replace(nps(4, seed=2), ended=False)
    assert compare(whole, cut).notes == (
        ("NPS4: the budget ended its search, so it may have a faster best setting than the one shown."),
    )
    assert compare(whole, replace(cut, ended=None)).notes == ()


def test_which_of_three_is_the_fastest() -> None:
    three = [nps(1, seed=1), nps(2, large_alltoall(1 / 1.5), seed=2), nps(4, large_alltoall(1 / 2.5), seed=3)]
    found = [each for each in compare(*three).fastest if each.kind == "default"]
    small, large = (each for each in found if each.case.collective == "alltoall")
    assert (small.first, small.over_next) == (FEW[0], None)
    assert set(small.labels) == {"NPS1", "NPS2", "NPS4"}
    assert large.labels == ("NPS4",)
    assert (large.first, large.last) == (32768, FEW[-1])
    assert large.over_next is not None
    assert large.over_next.mid == pytest.approx(2.5 / 1.5, rel=0.1), "the least of several sizes"
    assert all(each.over_next is None for each in found if each.case.collective == "allreduce")


def test_two_that_beat_a_third_are_both_named() -> None:
    three = [nps(1, large_alltoall(2.0), seed=1), nps(2, seed=2), nps(4, seed=3)]
    large = [e for e in compare(*three).fastest if e.case.collective == "alltoall" and e.first == 32768]
    assert [set(each.labels) for each in large] == [{"NPS2", "NPS4"}] * 2, "by default, and each at its best"
    assert all(each.over_next is None for each in large)


def test_the_order_of_studies_changes_nothing_about_the_fastest() -> None:
    a, b = nps(1, seed=1), nps(4, large_alltoall(1 / 2), seed=2)
    for found in (compare(a, b), compare(b, a)):
        (large,) = [e for e in found.fastest if e.over_next is not None and e.kind == "default"]
        assert large.labels == ("NPS4",)
        assert large.over_next is not None
        assert large.over_next.mid == pytest.approx(2, rel=0.1)
