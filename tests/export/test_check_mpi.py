"""Real launches: what the MPI took, and what it dropped in silence, is told apart on every MPI there is here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tuning.samples import plan, rule, tuned, tuning
from unisono.core.errors import UserError
from unisono.export import export
from unisono.export import tuned_rules as rules
from unisono.export.check import Check, check
from unisono.export.tuned_rules import CollectiveRules, CommRules, MessageRule, RulesFile
from unisono.machine.description import Machine
from unisono.tuning.contents import Conditions
from unisono.tuning.plans import Plan

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

UCX = {"pml": "ucx", "UCX_RNDV_THRESH": "16kb"}
RULES = (
    rule("allreduce", 0, 4095, {}, sizes=(8, 1024)),
    rule("allreduce", 4096, None, tuned("ring"), sizes=(4096, 65536)),
    rule("alltoall", 0, 1023, tuned("modified_bruck"), sizes=(8, 512)),
    rule("alltoall", 1024, 65535, tuned("pairwise"), sizes=(1024, 32768)),
    rule("bcast", 0, None, tuned("pipeline", segment="8192"), sizes=(8, 32768)),
    rule("gather", 0, None, tuned("binomial"), sizes=(8,)),
    rule("barrier", 0, None, tuned("tree"), sizes=(0,)),
)


@pytest.fixture(params=["embedded", "system"])
def machine(request: pytest.FixtureRequest) -> Machine:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Machine)
    return found


def a_plan(ppn: int = 2, launch: dict[str, str] | None = None) -> Plan:
    gain = {rule.collective: 1.1 for rule in RULES}
    return plan(1, ppn, launch, gain, RULES)


def written(machine: Machine, one: Plan, directory: Path, format: str = "openmpi") -> list[Path]:
    return export(tuning(one), format, one, machine, directory)


def checked(machine: Machine, one: Plan, directory: Path, format: str = "openmpi") -> Check:
    return check(tuning(one), format, one, machine, directory, deadline=30)


def found(result: Check) -> dict[str, str]:
    return {item.what: item.found for item in result.items}


def refused(result: Check) -> dict[str, str]:
    return {item.what: item.reason for item in result.items if item.taken is False}


@pytest.mark.parametrize("format", ["openmpi", "ucx", "shell", "mpirun"])
def test_what_is_exported_is_taken(machine: Machine, format: str, tmp_path: Path) -> None:
    one = a_plan(launch=UCX)
    directory = tmp_path / "it's here"
    written(machine, one, directory, format)
    result = checked(machine, one, directory, format)
    assert refused(result) == {}
    assert result.taken
    seen = found(result)
    if format != "openmpi":
        assert "16" in seen["UCX_RNDV_THRESH"]
    if format != "ucx":
        assert seen["pml"] == "ucx"
        assert seen["allreduce, below 4 KiB"] == "the MPI's own choice"
        assert seen["allreduce, from 4 KiB"] == "ring"
        assert seen["alltoall, below 1 KiB"] == "modified_bruck"
        assert seen["alltoall, 1 KiB to below 64 KiB"] == "pairwise"
        assert seen["alltoall, from 64 KiB"] == "the MPI's own choice"
        assert seen["bcast, all sizes"] == "pipeline, segments of 8 KiB"
    left = {path.name for path in directory.iterdir()}
    assert not [name for name in left if "check" in name]


def test_three_ranks_get_the_rules_and_two_of_them_do_not(machine: Machine, tmp_path: Path) -> None:
    one = a_plan(ppn=3)
    made = tuning(one).model_copy(update={"conditions": Conditions(oversubscribed=True)})
    written(machine, one, tmp_path)
    result = check(made, "openmpi", one, machine, tmp_path, deadline=60)
    assert refused(result) == {}
    seen = found(result)
    assert seen["alltoall, 1 KiB to below 64 KiB"] == "pairwise"
    assert seen["alltoall, 2 ranks"] == "the MPI's own choice"
    assert seen["barrier, all"] == "tree"


def test_a_version_header_an_old_open_mpi_drops_in_silence_is_caught(machine: Machine, tmp_path: Path) -> None:
    one = a_plan()
    path = written(machine, one, tmp_path)[0]
    path.write_text(rules.write(replace(rules.read(path.read_text(), "f"), version=2)))
    result = checked(machine, one, tmp_path)
    assert machine.mpi is not None
    if machine.mpi.version.startswith("4.1.4"):
        assert not result.taken
        assert "dropped it in silence" in refused(result)["allreduce, from 4 KiB"]
        assert found(result)["allreduce, from 4 KiB"] == "the MPI's own choice"
    else:
        assert refused(result) == {}


def test_files_edited_by_hand(machine: Machine, tmp_path: Path) -> None:
    one = a_plan()
    path = written(machine, one, tmp_path)[0]
    good = path.read_text()
    assert "  4096 4 0 0\n" in good  # allreduce: ring from 4 KiB

    path.write_text(good.replace("  4096 4 0 0\n", "  4096 3 0 0\n"))
    result = checked(machine, one, tmp_path)
    assert list(refused(result)) == ["allreduce, from 4 KiB"], refused(result)
    assert found(result)["allreduce, from 4 KiB"] == "recursive_doubling"

    path.write_text(good.replace("  4096 4 0 0\n", "  8192 4 0 0\n"))
    result = checked(machine, one, tmp_path)
    assert list(refused(result)) == ["allreduce, from 4 KiB"], refused(result)
    assert "at 4 KiB on 2 ranks" in refused(result)["allreduce, from 4 KiB"]

    path.write_text(good.replace("  4096 4 0 0\n", "  4096 77 0 0\n"))
    result = checked(machine, one, tmp_path)
    assert "names no algorithm of this MPI" in refused(result)["allreduce, from 4 KiB"]

    path.write_text(good.replace("  4096 4 0 0\n", "  4096 4 0\n"))
    with pytest.raises(UserError, match=r"openmpi-rules\.conf: line \d+: "):
        checked(machine, one, tmp_path)


def test_bytes_not_multiplied_by_the_ranks_are_caught(machine: Machine, tmp_path: Path) -> None:
    """The mistake of published tuners: alltoall's rules in bytes per pair."""
    one = plan(1, 2, gain={"alltoall": 1.2}, rules=(RULES[2], RULES[3]))
    path = written(machine, one, tmp_path)[0]
    wrong = (MessageRule(0, 3), MessageRule(1024, 2), MessageRule(65536, 0))
    guard = (MessageRule(0, 0),)
    comms = (CommRules(0, guard), CommRules(2, wrong), CommRules(3, guard))
    path.write_text(rules.write(RulesFile((CollectiveRules("alltoall", comms),))))
    result = checked(machine, one, tmp_path)
    assert "alltoall, below 1 KiB" in refused(result)
    assert "alltoall, 1 KiB to below 64 KiB" in refused(result)
    assert "(1024 bytes to Open MPI)" in refused(result)["alltoall, below 1 KiB"]


def test_a_rules_file_that_is_not_there_or_not_named(machine: Machine, tmp_path: Path) -> None:
    one = a_plan()
    rules_path, mca_path = written(machine, one, tmp_path)
    text = mca_path.read_text()
    rules_path.unlink()
    assert "ignores that in silence" in refused(checked(machine, one, tmp_path))["rules file"]
    kept = [line for line in text.splitlines() if "rules" not in line or line.startswith("#")]
    mca_path.write_text("\n".join(kept))
    assert "the plan has rules" in refused(checked(machine, one, tmp_path))["rules file"]
    mca_path.unlink()
    with pytest.raises(UserError, match=r"openmpi-mca-params\.conf: cannot be read"):
        checked(machine, one, tmp_path)


def test_rules_that_are_not_switched_on(machine: Machine, tmp_path: Path) -> None:
    one = a_plan()
    _, mca_path = written(machine, one, tmp_path)
    mca_path.write_text(mca_path.read_text().replace("use_dynamic_rules = 1", "use_dynamic_rules = 0"))
    result = checked(machine, one, tmp_path)
    assert "allreduce, from 4 KiB" in refused(result)
    assert found(result)["allreduce, from 4 KiB"] == "the MPI's own choice"


def test_what_the_environment_overrides(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = plan(1, 2, UCX)
    written(machine, one, tmp_path)
    monkeypatch.setenv("OMPI_MCA_pml", "ob1")
    assert found(checked(machine, one, tmp_path))["pml"] == "ob1"
    monkeypatch.delenv("OMPI_MCA_pml")
    written(machine, one, tmp_path, "ucx")
    monkeypatch.setenv("UCX_RNDV_THRESH", "64kb")
    result = checked(machine, one, tmp_path, "ucx")
    assert "64" in found(result)["UCX_RNDV_THRESH"]
    assert not result.taken


def test_parameters_that_nothing_here_knows(machine: Machine, tmp_path: Path) -> None:
    one = plan(1, 2, {**UCX, "UCX_RNDV_TRESH": "1k", "coll_hcoll_enable": "0", "HCOLL_BCOL": "x"})
    written(machine, one, tmp_path, "shell")
    result = checked(machine, one, tmp_path, "shell")
    assert "has no parameter of that name" in refused(result)["coll_hcoll_enable"]
    assert "has no variable of that name" in refused(result)["UCX_RNDV_TRESH"]
    assert "UCX_RNDV_THRESH" not in refused(result)
    assert [item.what for item in result.items if item.taken is None] == ["HCOLL_BCOL"]


def test_ucx_variables_without_ucx(machine: Machine, tmp_path: Path) -> None:
    one = plan(1, 2, {"pml": "ob1", "UCX_RNDV_THRESH": "16kb"})
    written(machine, one, tmp_path, "shell")
    assert list(refused(checked(machine, one, tmp_path, "shell"))) == ["UCX_RNDV_THRESH"]


def test_a_component_that_declines(machine: Machine, tmp_path: Path) -> None:
    """coll/han steps back when all ranks are on one node."""
    one = plan(1, 2, {"coll": "han"})
    written(machine, one, tmp_path)
    assert "han did not accept" in refused(checked(machine, one, tmp_path))["coll"]
    one = plan(1, 2, {"coll": "tuned"})
    written(machine, one, tmp_path)
    assert found(checked(machine, one, tmp_path))["coll"] == "tuned serves allreduce, alltoall"


def test_ranks_that_do_not_fit_are_not_launched(machine: Machine, tmp_path: Path) -> None:
    one = plan(1, 1000)
    written(machine, one, tmp_path)
    with pytest.raises(UserError, match="ppn 1000"):
        checked(machine, one, tmp_path)


def test_a_default_is_taken_by_itself(machine: Machine, tmp_path: Path) -> None:
    one = plan(1, 2)
    written(machine, one, tmp_path)
    (item,) = checked(machine, one, tmp_path).items
    assert (item.taken, item.reason) == (True, "the files set nothing")


def test_a_launch_that_fails_is_an_answer(machine: Machine, tmp_path: Path) -> None:
    one = plan(1, 2, {"pml": "ucx", "UCX_RNDV_THRESH": "banana"})
    written(machine, one, tmp_path, "shell")
    result = checked(machine, one, tmp_path, "shell")
    assert list(refused(result)) == ["launch"]
    assert result.as_dict()["taken"] is False
