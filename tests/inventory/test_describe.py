"""A whole machine: described, written, read back, compared, shown."""

from __future__ import annotations

import copy
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.machine import trees
from unisono.core.errors import UserError
from unisono.inventory.describe import describe, from_document, load, read_machine
from unisono.inventory.mpi import embedded_mpirun
from unisono.machine.description import Machine, Mpi, Node, Ucx
from unisono.machine.fingerprint import differences, fingerprint
from unisono.machine.picture import topology_text
from unisono.mpi.openmpi.ompi_info import parse_algorithms, parse_components
from unisono.parameters.doctor import doctor_json, print_doctor

STUDIES = Path(__file__).parents[2] / "studies" / "machines"

OPEN_MPI = Mpi(
    family="openmpi",
    version="5.0.11",
    mpirun="/opt/openmpi/bin/mpirun",
    mpicc="/opt/openmpi/bin/mpicc",
    root="/opt/openmpi",
    components=parse_components(trees.recorded("ompi_info-5.0.11.txt")),
    algorithms=parse_algorithms(trees.recorded("ompi_info-tuned-5.0.11.txt")),
    call_scope=["coll", "algorithm", "segment"],
)
UCX = Ucx(version="1.20.1", library="/opt/openmpi/lib/libucp.so.0", transports={"tcp": ["eth0"], "self": ["memory"]})


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return read_machine(trees.virtual_machine(tmp_path), {"UCX_TLS": "sm"}, OPEN_MPI, UCX, architecture="x86_64")


def test_a_machine_of_a_tree(machine: Machine) -> None:
    assert machine.name == "vm"
    assert machine.nodes == [Node(host="vm", slots=2)]
    assert machine.environment == {"UCX_TLS": "sm"}
    assert machine.mpi == OPEN_MPI


def test_it_reads_back_alone_and_out_of_the_doctors_document(machine: Machine, tmp_path: Path) -> None:
    alone = tmp_path / "alone.json"
    alone.write_text(machine.model_dump_json(), encoding="utf-8")
    whole = tmp_path / "doctor.json"
    whole.write_text(json.dumps(doctor_json(machine)), encoding="utf-8")
    assert load(alone) == load(whole) == machine


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[1]", "format: not the description of a machine"),
        ('{"machine": 3}', "format: not the description of a machine"),
        ('{"format": "unisono-tuning"}', "format: not the description"),
        ('{"format": "unisono-machine", "format_version": 2}', "format_version: 2 is not a version"),
        ('{"format": "unisono-machine", "format_version": 1}', "name: Field required"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message) as error:
        load(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        load(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("cpus", [], "cpus: is empty"),
        ("cpus", [{"cpu": 0, "core": 0, "numa": 0, "socket": 0}] * 2, "cpus: a CPU number appears twice"),
        ("sockets", 0, "sockets: 0 is too few"),
        ("nodes", [], "nodes: is empty"),
        ("smt", "two", "smt: "),
        ("colour", "red", "colour: Extra inputs"),
    ],
)
def test_a_wrong_key_is_named(machine: Machine, key: str, value: Any, message: str) -> None:
    document = machine.model_dump(mode="json")
    document[key] = value
    with pytest.raises(UserError, match=f"x.json: {message}"):
        from_document(document, "x.json")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(_JSON, st.sampled_from([*Machine.model_fields, "machine"]))
def test_any_document_is_a_machine_or_one_clear_line(value: Any, key: str) -> None:
    document = json.loads((STUDIES / "BM.Optimized3.36-nps1.json").read_text(encoding="utf-8"))
    document[key] = value
    try:
        from_document(document, "x.json")
    except UserError as error:
        assert "\n" not in str(error)
        assert str(error).startswith("x.json: ")


def test_the_fingerprint_says_what_must_not_change(machine: Machine) -> None:
    labels = fingerprint(machine)
    assert labels["CPU"] == "AMD EPYC"
    assert labels["MPI"] == "openmpi 5.0.11"
    assert labels["environment"] == "UCX_TLS=sm"
    assert "governor" not in labels  # not exposed here, so not known


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"numa_per_socket": 4}, "NUMA nodes per socket: 1 there, 4 here"),
        ({"smt": 2}, "SMT: 1 there, 2 here"),
        ({"kernel": "7.0"}, "kernel: 6.18.44-fc-v669 there, 7.0 here"),
        ({"environment": {}}, "environment: UCX_TLS=sm there, none here"),
        ({"ucx": UCX.model_copy(update={"version": "1.17.0"})}, "UCX: 1.20.1 there, 1.17.0 here"),
        ({"mpi": OPEN_MPI.model_copy(update={"version": "4.1.4"})}, "MPI: Open MPI 5.0.11 there, Open MPI 4.1.4 here"),
        (
            {"mpi": OPEN_MPI.model_copy(update={"settings": {"coll": "^han"}})},
            "settings in files: none there, coll=^han here",
        ),
    ],
)
def test_differences_are_sentences(machine: Machine, change: dict[str, Any], sentence: str) -> None:
    other = machine.model_copy(update=change)
    assert differences(machine, other) == [sentence]
    assert differences(fingerprint(machine), other) == [sentence]


def test_what_changes_by_itself_is_no_difference(machine: Machine) -> None:
    other = copy.deepcopy(machine)
    other.memory_available_bytes -= 12345
    other.governor = "performance"  # known on one side only
    assert differences(machine, other) == []


def doctors_page(machine: Machine, width: int = 500) -> str:
    """As text; where it is not narrow, nothing goes over two lines."""
    console = Console(width=width, file=io.StringIO(), record=True)
    print_doctor(machine, console)
    return console.export_text()


def test_the_doctors_page(machine: Machine) -> None:
    page = doctors_page(machine)
    for text in (
        "1 socket, 1 NUMA node per socket (NPS 1), 2 cores",
        "L3 32 MiB every 2 cores",
        "not exposed (virtual machine)",
        "Open MPI 5.0.11",
        "not here: hcoll, ucc",
        "UCX_TLS=sm",
        "NUMA 0",
        "HPC-X",
    ):
        assert text in page
    for name, here in (("coll_hcoll_enable", "no"), ("UCX_RNDV_THRESH", "yes")):
        assert re.search(rf"{name}\W+launch\W+{here}\b", page)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_doctors_page_in_a_narrow_terminal_has_whole_lines_of_sentences(machine: Machine, width: int) -> None:
    page = doctors_page(machine, width)
    assert max(map(len, page.splitlines())) <= width
    lines = [line for line in page[page.index("Parameters,") :].splitlines() if line.startswith("    ")]
    assert sum(map(len, map(str.strip, lines))) / len(lines) > width / 2
    for name, here in (("coll_hcoll_enable", "no"), ("UCX_RNDV_THRESH", "yes")):
        assert re.search(rf"^{name}  launch  {here}$", page, re.MULTILINE)


def test_what_our_collectives_would_see(epyc_nps4: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNISONO_TOPOLOGY", raising=False)
    mpich = Mpi(family="mpich", version="4.0.2", mpirun="mpirun.mpich")
    large = read_machine(epyc_nps4, {}, OPEN_MPI, UCX)
    bound = large.model_copy(update={"environment": {"PRTE_MCA_rmaps_default_mapping_policy": "package"}})
    for here, said in (
        (machine, "1 socket, 1 NUMA domain, 1 last-level cache: a node is one domain to our collectives"),
        (
            large,
            "2 sockets, 8 NUMA domains, 24 last-level caches; Open MPI by default binds each rank within a NUMA domain",
        ),
        (bound, "2 sockets, 8 NUMA domains, 24 last-level caches; the environment sets how ranks are bound"),
        (
            large.model_copy(update={"mpi": mpich}),
            "some ranks are not bound within one domain and our collectives take the node as one",
        ),
        (large.model_copy(update={"mpi": None}), "2 sockets, 8 NUMA domains, 24 last-level caches"),
    ):
        rows = doctor_json(here)["collectives"]
        assert said in rows["domains"]
        assert rows["coordinates"] == "none; a file with them can be named in UNISONO_TOPOLOGY"
        assert re.search(rf"^Domains +{re.escape(rows['domains'])} *$", doctors_page(here), re.MULTILINE)
    assert "-bind-to core" in doctor_json(large.model_copy(update={"mpi": mpich}))["collectives"]["domains"]


def test_no_line_of_the_page_is_too_long(machine: Machine) -> None:
    assert max(len(line) for line in doctors_page(machine, width=90).splitlines()) <= 90


def test_a_machine_without_an_mpi_has_a_page_too(tmp_path: Path) -> None:
    machine = read_machine(trees.virtual_machine(tmp_path), {}, None, None)
    page = doctors_page(machine)
    assert "MPI  " in page
    assert "none described" in page
    assert doctor_json(machine)["parameters"]["coll"]["available"] is False


def test_the_doctors_json_says_why_not(machine: Machine) -> None:
    hcoll = doctor_json(machine)["parameters"]["coll_hcoll_enable"]
    assert hcoll["available"] is False
    assert "coll/hcoll" in hcoll["reason"]
    assert "HPC-X" in hcoll["remedy"]
    assert hcoll["values"] == []


def test_pictures() -> None:
    small = load(STUDIES / "BM.Optimized3.36-nps2.json")
    assert topology_text(small) == "\n".join(
        [
            "+---- socket 0: 18 cores -----+ +---- socket 1: 18 cores -----+",
            "| NUMA 0 (L3 39 MiB): [0-8]   | | NUMA 2 (L3 39 MiB): [18-26] |",
            "| NUMA 1 (L3 39 MiB): [9-17]  | | NUMA 3 (L3 39 MiB): [27-35] |",
            "+-----------------------------+ +-----------------------------+",
        ]
    )


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.json")), ids=lambda path: path.stem)
def test_described_machines_are_drawn_whole(path: Path) -> None:
    machine = load(path)
    picture = topology_text(machine)
    assert max(len(line) for line in picture.splitlines()) <= 104
    assert f"{machine.cpus[-1].cpu}]" in picture


@pytest.mark.parametrize(
    ("name", "cores", "numa", "l3"),
    [
        ("BM.Standard.E5.192-nps1", 192, 2, 24),
        ("BM.Standard.E5.192-nps4", 192, 8, 24),
        ("BM.Optimized3.36-nps1", 36, 2, 2),
        ("BM.Optimized3.36-nps2", 36, 4, 2),
    ],
)
def test_the_oci_machines(name: str, cores: int, numa: int, l3: int) -> None:
    machine = load(STUDIES / f"{name}.json")
    assert machine.cores == cores
    assert len(machine.numa_nodes) == numa == machine.sockets * machine.numa_per_socket
    assert len({cpu.l3 for cpu in machine.cpus}) == l3
    assert machine.smt == 1
    assert machine.mpi is not None
    assert machine.mpi.version == "5.0.6"
    assert "hcoll" in machine.mpi.components["coll"]
    assert machine.source.startswith("not measured")
    assert fingerprint(machine)["NUMA nodes per socket"] == name[-1]


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("launcher", ["embedded", "/usr/bin/mpirun"])
def test_this_machine(launcher: str, tmp_path: Path) -> None:
    path = embedded_mpirun() if launcher == "embedded" else launcher
    if path is None or not Path(path).exists():
        pytest.skip(f"no {launcher} mpirun here")
    machine = describe(path)
    assert machine.source == "measured"
    assert machine.cores >= 1
    written = tmp_path / "machine.json"
    written.write_text(json.dumps(doctor_json(machine)), encoding="utf-8")
    assert load(written) == machine
    assert differences(machine, describe(path)) == []
