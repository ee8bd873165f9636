"""References for ReFrame: what a later launch takes is within the bounds, what is really slower is not."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.decide.synthetic import sample, study_data
from tests.tuning.samples import machine, plan, rule, tuned, tuning
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.export import export, reframe_reference
from unisono.export.spread import expected
from unisono.study.data import StudyData

SIZES = (8, 1024, 65536)
RING = Setting(tuned("ring"))
PLAN = plan(gain={"allreduce": 1.3}, rules=(rule("allreduce", 1024, None, tuned("ring"), sizes=SIZES[1:]),))
DOCUMENT = tuning(PLAN)
NOISE = 0.05


def data(launches: int, seed: int = 1) -> StudyData:
    """A study in which launches differ by 5 %; what the plan does not use takes ten times as long."""
    rng, case, found = np.random.default_rng(seed), Case("allreduce", 1, 4), []
    for launch in range(1, launches + 1):
        for size in SIZES:
            seconds = size * 1e-8 * math.exp(rng.normal(0, NOISE))
            used = RING if size >= 1024 else DEFAULT
            other = DEFAULT if size >= 1024 else RING
            found.append(sample(launch, 1, case, size, used, seconds))
            found.append(sample(launch, 1, case, size, other, 10 * seconds))
            found.append(sample(launch, 1, case, size, used, 1e-3 * seconds, correct=False))
    return replace(study_data(found), id=DOCUMENT.study.id)


def as_reframe_judges(reference: reframe_reference.Reference, found: float) -> bool:
    """Bounds are parts of the value; a missing one is no bound."""
    value, lower, upper, _unit = reference
    return (lower is None or found >= value * (1 + lower)) and (upper is None or found <= value * (1 + upper))


def test_later_launches_are_within_the_bounds_and_slower_ones_are_not() -> None:
    text = reframe_reference.write(expected(data(6), PLAN), "1x4", ['it\'s """here"""\\'])
    references = reframe_reference.read(text, "f")
    assert sorted(references) == ["allreduce_1024_1x4", "allreduce_65536_1x4", "allreduce_8_1x4"]
    rng = np.random.default_rng(2)
    inside = [
        as_reframe_judges(references[f"allreduce_{size}_1x4"], size * 1e-2 * math.exp(rng.normal(0, NOISE)))
        for size in SIZES
        for _ in range(500)
    ]
    assert 0.95 < np.mean(inside) <= 1
    for size in SIZES:
        assert not as_reframe_judges(references[f"allreduce_{size}_1x4"], 1.6 * size * 1e-2)


def test_few_launches_get_wider_bounds_and_two_none() -> None:
    few, many = (
        np.mean([value.slower for seed in range(10) for value in expected(data(n, seed), PLAN)]) for n in (3, 30)
    )
    assert few > many > 2 * NOISE
    assert expected(data(2), PLAN) == []


def test_the_file_is_written_from_the_tunings_own_study_alone(tmp_path: Path) -> None:
    (path,) = export(DOCUMENT, "reframe", PLAN, machine(), tmp_path, study=lambda: data(5))
    found = reframe_reference.read(path.read_text(), str(path))
    assert found["allreduce_8_1x4"][3] == "us"
    with pytest.raises(UserError, match="fewer than three launches"):
        export(DOCUMENT, "reframe", PLAN, machine(), tmp_path, study=lambda: data(2))
    with pytest.raises(UserError, match="made from study abc123; name its study"):
        export(DOCUMENT, "reframe", PLAN, machine(), tmp_path, study=lambda: replace(data(5), id="other"))


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for one in (text, f"REFERENCE = {text}", f'REFERENCE = {{"*": {text}}}'):
        try:
            reframe_reference.read(one, "f")
        except UserError as error:
            assert str(error).startswith("f: ")
