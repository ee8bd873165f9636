"""A small study of persistent collectives on two real ranks, and what its tuning then serves."""

from __future__ import annotations

from pathlib import Path

import pytest

from unisono.advise.measuring import measure, merged, study_for, tuning_of
from unisono.core.errors import UserError
from unisono.core.vocabulary import PRELOAD, UNISONO, Case, Setting, of_libnbc
from unisono.export.serving import compile_serving
from unisono.library.native import bench_program
from unisono.machine.description import Machine
from unisono.parameters.spelling import implementation, require_mpi
from unisono.study.config import Study
from unisono.study.matrix import expand
from unisono.tuning.choice import lookup

pytestmark = pytest.mark.mpi

SIZE = 64
CASES = {Case(name, 1, 2): (SIZE,) for name in ("allreduce_init", "bcast_init", "ibcast")}
POSTED = Setting({"coll": UNISONO, "algorithm": "posted"})


def asked(machine: Machine) -> Study:
    study = study_for(CASES, machine)
    return study.model_copy(update={"parameters": {"coll": [UNISONO], "algorithm": ["all"]}})


def test_a_study_measures_them_and_its_tuning_serves_them(embedded: Machine, tmp_path: Path) -> None:
    mpi = require_mpi(embedded)
    measure(tmp_path / "study.db", asked(embedded), CASES, embedded, bench_program(mpi.mpicc), 25.0)
    data = merged([tmp_path / "study.db"])
    assert data.refusals == ()
    found = {(sample.case.collective, sample.setting) for sample in data.samples}
    assert {(case.collective, setting) for case in CASES for setting in (Setting(), POSTED)} <= found
    assert {name for name, setting in found if of_libnbc(setting)} == {case.collective for case in CASES}
    assert all(sample.correct for sample in data.samples)
    assert all(0 < sample.median < 1 for sample in data.samples)

    tuning = tuning_of(data)
    served = next((plan for plan in tuning.plan if plan.launch.get(PRELOAD) == UNISONO), None)
    assert served is not None
    rules, notes = compile_serving(tuning, served, mpi)
    assert notes == []
    for case in CASES:
        rule = served.rule_at(case.collective, SIZE)
        assert rules.find(case.collective, 1, 2, SIZE) == (implementation(rule.call if rule else {}),)
        assert lookup(tuning, case.collective, 1, 2, SIZE).plan in tuning.plan
    others = [rule for plan in tuning.plan if plan != served for rule in plan.rules]
    assert not any(of_libnbc(rule.call) for rule in others), "Open MPI's parameter would be for both forms"


def test_an_mpi_that_has_none_says_so(system: Machine) -> None:
    if require_mpi(system).has_persistent:
        pytest.skip("this MPI has persistent collectives")
    matrix = expand(asked(system), system)
    assert [each.case.collective for each in matrix.cases] == ["ibcast"]
    study = asked(system)
    only = study.model_copy(update={"cases": study.cases.model_copy(update={"collectives": ["bcast_init"]})})
    with pytest.raises(UserError, match="has no persistent collectives that can be measured"):
        expand(only, system)
