"""Network devices and the batch system."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.machine import trees
from unisono.inventory.scheduler import parse_version, read_scheduler
from unisono.machine.devices import parse_state, read_devices


def test_roce_port_idle_port_and_ethernet(xeon: Path) -> None:
    found = {device.name: device for device in read_devices(xeon)}
    assert set(found) == {"mlx5_2:1", "mlx5_0:1", "ens300"}
    assert (found["mlx5_2:1"].kind, found["mlx5_2:1"].gbps, found["mlx5_2:1"].numa) == ("roce", 100.0, 1)
    assert (found["mlx5_0:1"].kind, found["mlx5_0:1"].state, found["mlx5_0:1"].numa) == ("infiniband", "down", None)
    assert (found["ens300"].kind, found["ens300"].gbps) == ("ethernet", 50.0)


def test_a_virtual_interface_without_a_speed(tmp_path: Path) -> None:
    (device,) = read_devices(trees.virtual_machine(tmp_path))
    assert (device.name, device.state, device.gbps, device.numa) == ("eth0", "up", None, None)


@pytest.mark.parametrize(
    ("name", "kind"), [("hfi1_0", "omnipath"), ("efa_0", "efa"), ("rdmap0s31", "efa"), ("mlx5_0", "infiniband")]
)
def test_kinds(tmp_path: Path, name: str, kind: str) -> None:
    trees.write(tmp_path, {f"sys/class/infiniband/{name}/ports/1/state": "4: ACTIVE\n"})
    assert [device.kind for device in read_devices(tmp_path)] == [kind]


@pytest.mark.parametrize(
    ("text", "state"), [("4: ACTIVE", "up"), ("1: DOWN", "down"), ("2: INIT", "init"), ("", "unknown")]
)
def test_states(text: str, state: str) -> None:
    assert parse_state(text) == state


@given(st.text())
def test_state_and_version_of_anything(text: str) -> None:
    assert parse_state(text)
    version = parse_version(text)
    assert version is None or version in text


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("slurm 22.05.8\n", "22.05.8"),
        ("pbs_version = 23.06.06", "23.06.06"),
        ("commands:\t0.60.0", "0.60.0"),
        ("", None),
    ],
)
def test_scheduler_versions(text: str, version: str | None) -> None:
    assert parse_version(text) == version


def test_no_batch_system() -> None:
    found = read_scheduler({}, lambda name: None)
    assert (found.name, found.inside_job) == ("none", False)


@pytest.mark.parametrize(
    ("variable", "name"),
    [("SLURM_JOB_ID", "slurm"), ("PBS_JOBID", "pbs"), ("LSB_JOBID", "lsf"), ("FLUX_JOB_ID", "flux")],
)
def test_inside_a_job(variable: str, name: str) -> None:
    found = read_scheduler({variable: "17"}, lambda program: None)
    assert (found.name, found.inside_job, found.detail) == (name, True, "inside job 17")


def test_installed_but_outside_a_job(tmp_path: Path) -> None:
    program = tmp_path / "sinfo"
    program.write_text("#!/bin/sh\necho slurm 23.11.4\n", encoding="utf-8")
    program.chmod(0o755)
    found = read_scheduler({}, lambda name: str(program) if name == "sinfo" else None)
    assert (found.name, found.version, found.inside_job) == ("slurm", "23.11.4", False)
