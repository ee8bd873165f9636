"""What Open MPI says it selected: recorded, made up, and asked of the installed ones."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.launch.launched import launched
from tests.machine.trees import recorded
from tests.parameters.machines import small
from unisono.core.errors import UserError
from unisono.core.vocabulary import Setting
from unisono.inventory.describe import describe
from unisono.inventory.mpi import embedded_mpirun
from unisono.machine.description import Machine
from unisono.parameters import availability, selected
from unisono.parameters.defaults import default_component, default_pml
from unisono.parameters.folding import fold
from unisono.parameters.placements import is_default_binding
from unisono.parameters.spelling import launch_words

COPY = "MPI COMM 3 DUP FROM 0"

PROGRAM = """
#include <mpi.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc > 1) {
        MPI_Info info;
        MPI_Comm copy;
        MPI_Info_create(&info);
        MPI_Info_set(info, "ompi_comm_coll_preference", argv[1]);
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
        MPI_Barrier(copy);
        MPI_Comm_free(&copy);
        MPI_Info_free(&info);
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("version", ["5.0.11", "4.1.4"])
def test_the_default_of_one_node(version: str) -> None:
    text = recorded(f"coll-verbose-{version}.txt")
    assert sorted(selected.stacked(text)[:2]) == ["basic", "libnbc"]
    found = selected.parse(text)
    assert found["comm"] == found["allreduce"] == found["alltoall"] == "tuned"
    assert selected.parse(text, "MPI_COMM_SELF")["comm"] == "self"


def test_a_copy_that_prefers_another_component() -> None:
    text = recorded("coll-verbose-5.0.11-prefer-sm.txt")
    assert selected.parse(text)["comm"] == "tuned"
    found = selected.parse(text, COPY)
    assert (found["comm"], found["bcast"], found["alltoall"]) == ("sm", "sm", "tuned")


@pytest.mark.parametrize("name", ["coll-verbose-5.0.11-2-nodes.txt", "coll-verbose-4.1.4-2-nodes-han.txt"])
def test_two_nodes_of_two_ranks(name: str) -> None:
    """HAN by default in 5.0, with coll_han_priority=100 in 4.1; what it does not implement stays with coll/tuned."""
    found = selected.parse(recorded(name))
    assert (found["comm"], found["allreduce"], found["alltoall"]) == ("han", "han", "tuned")
    version, words = ("5.0.11", {}) if "5.0" in name else ("4.1.4", {"coll_han_priority": "100"})
    assert default_component(small(version, nodes=2), 2, 2, words) == (None if words else "han")
    assert launch_words({"coll": "han"}, small("4.1.4", nodes=2)).mca == {"coll_han_priority": "100"}


def test_no_selection_no_answer() -> None:
    assert selected.parse("") == {}
    assert selected.parse(recorded("coll-verbose-5.0.11.txt"), "MPI_COMM_OTHER") == {}


@given(
    st.lists(st.tuples(st.sampled_from(["tuned", "basic", "sm", "han"]), st.booleans()), max_size=6),
    st.text(max_size=30),
)
def test_stacks_read_back_in_order(stack: list[tuple[str, bool]], noise: str) -> None:
    lines = ["[h:1] coll:base:comm_select: new communicator: MPI_COMM_WORLD (cid 0)"]
    for name, enabled in stack:
        state = "Enabled" if enabled else "Disabled"
        lines.append(f"[h:1] coll:base:comm_select: selecting  {name:>10}, priority {10:3d}, {state}")
        lines.append("[h:2] coll:base:comm_select: new communicator: MPI_COMM_SELF (cid 1)")
        lines.append(
            f"[h:2] coll:base:comm_select: selecting        self, priority  75, Enabled {noise}".splitlines()[0]
        )
    assert selected.stacked("\n".join(lines)) == [name for name, enabled in stack if enabled]


@given(st.text())
def test_anything(text: str) -> None:
    selected.parse(text)


@pytest.fixture(scope="module", params=["embedded", "/usr/bin/mpirun"])
def here(request: pytest.FixtureRequest) -> Machine:
    path = embedded_mpirun() if request.param == "embedded" else request.param
    try:
        return describe(path or "/no/embedded/mpirun")
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def program(here: Machine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert here.mpi is not None
    if here.mpi.mpicc is None or here.cores < 2:
        pytest.skip("needs mpicc and two cores")
    directory = tmp_path_factory.mktemp("select")
    source = directory / "select.c"
    source.write_text(PROGRAM, encoding="utf-8")
    subprocess.run([here.mpi.mpicc, str(source), "-o", str(directory / "select")], check=True, timeout=60)
    return directory / "select"


def _launch(machine: Machine, mca: dict[str, str], *command: str) -> str:
    """What two ranks and mpirun say, both streams."""
    assert machine.mpi is not None
    words = [word for name, value in mca.items() for word in ("--mca", name, value)]
    if "ofi" in machine.mpi.components.get("btl", []) and "btl" not in {**mca, **machine.mpi.settings}:
        words += ["--mca", "btl", "^ofi"]  # saves a second of every MPI_Init
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = launched([machine.mpi.mpirun, "-n", "2", *words, *command], env=environment, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout + done.stderr


@pytest.mark.mpi
@pytest.mark.beside
def test_the_default_component_is_the_one_we_say(here: Machine, program: Path) -> None:
    found = selected.parse(_launch(here, selected.VERBOSE, str(program)))
    expected = default_component(here, 1, 2, {})
    assert expected is None or found["allreduce"] == expected


@pytest.mark.mpi
@pytest.mark.beside
def test_a_component_preferred_for_a_launch_is_taken(here: Machine, program: Path) -> None:
    for component in ("sm", "basic"):
        words = launch_words({"coll": component}, here, call_scope=()).mca
        found = selected.parse(_launch(here, {**selected.VERBOSE, **words}, str(program)))
        assert found["comm"] == found["bcast"] == component


@pytest.mark.mpi
@pytest.mark.beside
def test_a_component_preferred_for_a_copy_is_taken(here: Machine, program: Path) -> None:
    assert here.mpi is not None
    if "coll" not in here.mpi.call_scope:
        pytest.skip(f"Open MPI {here.mpi.version} does not switch components inside a launch")
    for component in availability.coll_candidates(here, "bcast"):
        text = _launch(here, selected.VERBOSE, str(program), component)
        assert selected.parse(text, COPY)["bcast"] == component


@pytest.mark.mpi
@pytest.mark.beside
def test_the_default_point_to_point_layer_is_the_one_we_say(here: Machine, program: Path) -> None:
    expected = default_pml(here)
    text = _launch(here, {"pml_base_verbose": "10"}, str(program))
    assert expected is None or f"select: component {expected} selected" in text


@pytest.mark.mpi
@pytest.mark.beside
def test_ucx_is_taken_where_it_is_asked_for(here: Machine, program: Path) -> None:
    if "ucx" not in availability.available_values("pml", here, None):
        pytest.skip("this MPI has no UCX")
    words = launch_words({"pml": "ucx"}, here).mca
    text = _launch(here, {**words, "pml_base_verbose": "10"}, str(program))
    assert "select: component ucx selected" in text


@pytest.mark.mpi
@pytest.mark.beside
def test_two_ranks_are_bound_as_we_say(here: Machine) -> None:
    if not is_default_binding(here, 1, 2):
        pytest.skip("not a machine on which two ranks are bound like a block")
    text = _launch(here, {}, "sh", "-c", "grep Cpus_allowed_list /proc/self/status")
    masks = sorted(line.split()[-1] for line in text.splitlines() if line.startswith("Cpus_allowed_list"))
    assert masks == sorted(str(cpu.cpu) for cpu in here.cpus[:2])
    assert fold([Setting({"placement": "block"})], here, 1, 2)[0] == [Setting()]
