"""Studies that nobody measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.hybrid.conftest import node
from tests.hybrid.test_decide import launches
from unisono.hybrid.decide import decide
from unisono.hybrid.study import SOLVER_METRIC, HybridStudy
from unisono.hybrid.variants import Variant, variants
from unisono.machine.description import Machine, Mpi
from unisono.study.data import StudyData


def machine(cores: int = 4, numa: int = 1, *, family: str = "openmpi", name: str = "n0") -> Machine:
    version = {"openmpi": "5.0.11", "mpich": "4.0.2"}[family]
    mpi = Mpi(family=family, version=version, mpirun="mpirun", call_scope=[])
    return node(cores, numa).model_copy(update={"mpi": mpi, "name": name})


def all_of(here: Machine, layouts: str = "all", packing: str = "single") -> list[Variant]:
    return variants(here, layouts=layouts, numa="auto", packing=packing, links=[], nodes=[1], solver=True)[0]


def study(
    times: Mapping[Variant, float], here: Machine | None = None, program: str = "solver 64", **more: Any
) -> HybridStudy:
    """Six rounds in these times."""
    results = launches(dict(times), **more)
    decision = decide(results, list(times), 0.95)
    assert decision is not None
    data = StudyData(
        id="abc", name=f"hybrid: {program}", created="2026-01-01T00:00:00+00:00", method="hybrid", margin=0.03,
        confidence=0.95, weights={}, machine=here or machine(), samples=(), launches=(), limits={},
    )  # fmt: skip
    return HybridStudy(data, program, SOLVER_METRIC, tuple(results), decision)
