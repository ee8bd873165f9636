"""What the doctor says of coordinates, as the library would: native/tests/test_torus.c has the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from unisono.machine.coordinates import described, read, told_by
from unisono.machine.description import Mpi

LIBRARY = (Path(__file__).parents[2] / "native" / "collectives" / "coordinates.c").read_text(encoding="utf-8")
HOSTS = "# a machine\nextents 4x3x2 torus torus mesh\na 0 0 0\r\n b1  3 2 1 # last\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", None),
        ("# nothing\n", None),
        ("extents 8x8x\n", 1),
        ("extents 8x0 torus", 1),
        ("\nextents 8 ring", 2),
        ("extents 8x8 torus mesh torus", 1),
        ("extents 99999999 torus", 1),
        ("a 0 0 0\n", 1),
        ("extents 2x2 torus\na 0 0\nb 0 2", 3),
        ("extents 2x2 torus\na 0", 2),
        ("grid", 1),
        ("extents 2x2 torus\nnames n%x", 2),
        ("extents 2x2 torus\nnames n%x%q", 2),
        ("extents 2x2 torus\nnames n%", 2),
        ("extents 2x2 torus\nextents 2x2 torus", 2),
        ("extents 4096x4096x4096 torus", 1),
        ("extents 1x1x1x1x1x1x1 torus", 1),
        ("extents 2x2 torus\na 0 0 0 0 0 0 0 0 0 0", 2),
        ("x" * 1999, 1),
    ],
)
def test_a_mistake_is_said_as_the_library_says_it(text: str, line: int | None, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="^it says" if line is None else f"^line {line}: ") as error:
        read(text)
    said = str(error.value)
    assert f'"{said.partition(": ")[2] or said}"' in LIBRARY
    path = tmp_path / "torus"
    path.write_text(text, encoding="utf-8")
    whole = described({"UNISONO_TOPOLOGY": str(path)}, ["a"], None)
    assert whole == f"UNISONO_TOPOLOGY={path}: {said}; programs with our collectives end with this line"


@pytest.mark.parametrize(
    ("text", "hosts", "said"),
    [
        (HOSTS, ["a", "b1.site.org"], "4x3x2, from {}: torus torus mesh, 24 places, 2 hosts"),
        (
            HOSTS,
            ["a", "b"],
            "4x3x2, from {}: torus torus mesh, 24 places, 2 hosts; it says nothing of the node b: communicators with it"
            " are no cuboids",
        ),
        ("grid 4x4x2 torus", ["any"], "4x4x2, from {}: torus, 32 places, nodes in order of their lowest ranks"),
        ("extents 8x8 mesh\nnames n%x-%y", ["n3-2", "n7-7.a"], "8x8, from {}: mesh, 64 places, names like n%x-%y"),
        (
            "extents 8x8 mesh\nnames n%n\nz 0 0",
            ["n64", "n1", "z", "x", "y", "w"],
            "8x8, from {}: mesh, 64 places, 1 host and names like n%n; it says nothing of the nodes n64, x, y and 1"
            " more: communicators with them are no cuboids",
        ),
    ],
)
def test_a_file_in_one_line(text: str, hosts: list[str], said: str, tmp_path: Path) -> None:
    path = tmp_path / "torus"
    path.write_text(text, encoding="utf-8")
    assert described({"UNISONO_TOPOLOGY": str(path)}, hosts, None) == said.format(f"UNISONO_TOPOLOGY={path}")


def test_without_a_file_the_mpi_is_asked(tmp_path: Path) -> None:
    mpi = Mpi(family="openmpi", version="4.0.1", mpirun="mpiexec", root=str(tmp_path))
    assert described({}, ["a"], mpi) == "none; a file with them can be named in UNISONO_TOPOLOGY"
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64" / "libmpi.so.40").write_bytes(b"\0MPI_Send\0FJMPI_Topology_get_dimension\0")
    assert told_by(mpi) == "Fujitsu's MPI"
    assert described({"UNISONO_TOPOLOGY": ""}, ["a"], mpi) == "from Fujitsu's MPI"
    missing = tmp_path / "none"
    said = described({"UNISONO_TOPOLOGY": str(missing)}, ["a"], mpi)
    assert said.startswith(f"UNISONO_TOPOLOGY={missing}: it cannot be read;")
