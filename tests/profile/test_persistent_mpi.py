"""The starts of persistent collectives and the waits for them, counted with the calls that made their requests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.profile.interception import compiled, run, toolchain
from unisono.advise.kinds import NONBLOCKING, kind_of
from unisono.profile.check import problem
from unisono.profile.hot import hot_spots
from unisono.profile.raw import read_raw

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
RANKS, ALONE, TOGETHER = 2, 300, 200
"""Of programs/again.c."""
STARTS = {"allreduce_init": ALONE, "bcast_init": TOGETHER, "barrier_init": TOGETHER}
FORCE = {"UNISONO_FORCE": ",".join(f"{name}=unisono/posted" for name in STARTS), "UNISONO_VERBOSE": "1"}


@pytest.mark.parametrize("env", [{}, FORCE], ids=["of the MPI", "ours"])
def test_every_start_and_wait_is_counted_once(env: dict[str, str], tmp_path: Path) -> None:
    tools = toolchain("openmpi5")
    ran = run(tools, tmp_path, compiled(tools, tmp_path, "again.c"), ranks=RANKS, env=env)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert ("unisono/posted" in ran.error) == bool(env)
    profile = read_raw([ran.prefix.with_suffix(".raw")])
    assert problem(profile) == ""
    spots = {spot.name: spot for spot in hot_spots(profile)}
    for name, starts in STARTS.items():
        spot = spots[name]
        assert (spot.visits, spot.completed) == (RANKS, RANKS * starts), name
        assert kind_of(spot) == NONBLOCKING and 0 < spot.completion <= spot.time
    moved = sum(spots[name].completion for name in STARTS)
    began = np.asarray([name in ("MPI_Start", "MPI_Startall") for name in profile.functions])[profile.cells["function"]]
    waited = np.asarray([name.startswith(("MPI_Wait", "MPI_Test")) for name in profile.functions])
    spent = profile.cells["time"][began | waited[profile.cells["function"]]].sum()
    assert moved == pytest.approx(spent, rel=0.02, abs=1e-5), "nothing else is started or waited for"
    total = sum(spot.time for spot in hot_spots(profile))
    assert total == pytest.approx(profile.mpi_rows["time"].sum(), rel=0.02)
