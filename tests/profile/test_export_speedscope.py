"""Flame graphs: every second of the profile is in one stack."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from tests.profile.ft import ft
from tests.profile.synthetic import synthetic
from tests.profile.test_hot import profile
from unisono.profile.exporters import export_profile
from unisono.profile.exporters.speedscope import RANKS_MOST, speedscope
from unisono.profile.recorded import Profile


def document(whole: Profile) -> Any:
    return json.loads(speedscope(whole))


def stacks(written: Any, number: int = 0) -> dict[tuple[str, ...], float]:
    names = [frame["name"] for frame in written["shared"]["frames"]]
    part = written["profiles"][number]
    assert len(part["samples"]) == len(part["weights"])
    return {
        tuple(names[n] for n in sample): weight for sample, weight in zip(part["samples"], part["weights"], strict=True)
    }


def test_stacks_go_from_the_program_to_the_mpi_function() -> None:
    found = stacks(document(ft()))
    assert found["program", "main", "fft", "transpose_x_yz", "MPI_Alltoall"] == pytest.approx(3400, rel=0.01)
    assert found["program", "main", "fft", "fftz2"] == pytest.approx(4667, rel=0.01)
    assert ("program", "MPI_Init") in found


@pytest.mark.parametrize("whole", [synthetic(4, 30), ft()])
def test_weights_are_the_times_of_the_profile(whole: Profile) -> None:
    written = document(whole)
    assert sum(stacks(written).values()) == pytest.approx(whole.cells["time"].sum())
    assert written["profiles"][0]["endValue"] == pytest.approx(whole.cells["time"].sum())
    for number, part in enumerate(written["profiles"]):
        assert part["type"] == "sampled"
        assert part["unit"] == "seconds"
        assert all(0 <= n < len(written["shared"]["frames"]) for sample in part["samples"] for n in sample)
        if number:
            time = whole.cells["time"][whole.cells["rank"] == number - 1].sum()
            assert sum(part["weights"]) == pytest.approx(time)


def test_ranks_follow_their_sum_when_they_are_few_and_can_be_told_apart() -> None:
    assert [part["name"] for part in document(synthetic(4, 3))["profiles"]] == [
        "all ranks", "rank 0 on node0", "rank 1 on node0", "rank 2 on node1", "rank 3 on node1",
    ]  # fmt: skip
    assert len(document(synthetic(RANKS_MOST + 1, 3))["profiles"]) == 1
    summed = synthetic(4, 3)
    assert (
        len(document(dataclasses.replace(summed, origin=dataclasses.replace(summed.origin, summed=True)))["profiles"])
        == 1
    )


def test_equal_call_paths_lie_side_by_side() -> None:
    samples = document(synthetic(4, 40))["profiles"][0]["samples"]
    assert samples == sorted(samples)


def test_an_empty_profile_is_a_valid_file(tmp_path: Path) -> None:
    export_profile(profile(), tmp_path / "p.json", "speedscope")
    written = json.loads((tmp_path / "p.json").read_text())
    assert written["profiles"][0]["samples"] == []
    assert written["$schema"].endswith("file-format-schema.json")
