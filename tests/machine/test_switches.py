"""What the doctor says of a file of switches, as the library would: native/tests/test_places.c has the same files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono.machine.coordinates import described
from unisono.machine.switches import are_in, has, read

LIBRARY = Path(__file__).parents[2] / "native" / "collectives" / "places" / "switches.c"
TREE = """# a cluster
SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-3,10]
switchname=leaf2 \\
  nodes=n[004-006],other.site
SwitchName=leaf3 Nodes=r[1-2]c[01-18]n7\r
SwitchName=left Level=1 LinkSpeed=1 Nodes=n[1-99] Switches=leaf[1-2]
SwitchName=right Switches=leaf3
SwitchName=top Switches=left,right
taper 1.5
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("SwitchName=a Nodes=n1\nextents", 2),
        ("SwitchName=a", 1),
        ("SwitchName= Nodes=n1", 1),
        ("\nNodes=n1", 2),
        ("SwitchName=a \\\n Nodes=n1\nSwitchName=b Nodes=n[1", 3),
        ("SwitchName=a Nodes=n[3-1]", 1),
        ("SwitchName=a Nodes=n[1,]", 1),
        ("SwitchName=a Nodes=n[]", 1),
        ("SwitchName=a Nodes=n]", 1),
        ("SwitchName=a Nodes=n1,", 1),
        ("SwitchName=a Nodes=,n1", 1),
        ("SwitchName=a Nodes=a[1][1][1][1]", 1),
        ("SwitchName=a Switches=s[1-x]", 1),
        ("taper 0.5", 1),
        ("taper 2,5", 1),
        ("taper", 1),
        ("taper 2 3", 1),
        ("LinkSpeed=3", None),
    ],
)
def test_a_mistake_is_said_as_the_library_says_it(text: str, line: int | None, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="^it names" if line is None else f"^line {line}: ") as error:
        read(text)
    said = str(error.value)
    assert f'"{said.partition(": ")[2] or said}"' in LIBRARY.read_text(encoding="utf-8")
    path = tmp_path / "switches"
    path.write_text(text, encoding="utf-8")
    whole = described({"UNISONO_TOPOLOGY": str(path)}, ["a"], None)
    assert whole == f"UNISONO_TOPOLOGY={path}: {said}; programs with our collectives end with this line"


def test_a_tree_of_switches() -> None:
    tree = read(TREE)
    assert are_in(TREE) and not are_in("extents 8 torus\n") and not are_in("")
    assert tree.above("n10") == ("top", "left", "leaf1") and tree.above("n3.cluster.example") == tree.above("n10")
    assert tree.above("n005") == ("top", "left", "leaf2") == tree.above("other.site")
    assert tree.above("r2c18n7") == ("top", "right", "leaf3")
    unknown = ["n4", "n04", "n01", "n11", "other", "r3c01n7", "r1c19n7", "r1c1n7", ""]
    assert [name for name in unknown if tree.above(name)] == []
    assert len(read("SwitchName=a Nodes=n1\nSwitchName=b Switches=a,c\nSwitchName=c Switches=b").above("n1")) == 16


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.booleans())
def test_a_range_has_exactly_its_names(first: int, more: int, number: int, padded: bool) -> None:
    width = 3 if padded else 0
    names = f"x[{first:0{width}}-{first + more:0{width}}]y"
    assert has(names, f"x{number:0{width}}y") == (first <= number <= first + more)
    assert not has(names, f"x{number:04}y") and not has(names, f"x{number:0{width}}")


def test_brackets_side_by_side() -> None:
    assert has("a[1-2][1-12]", "a211") and has("a[1-2][1-12]", "a11") and not has("a[1-2][1-12]", "a213")


@pytest.mark.parametrize(
    ("hosts", "more"),
    [
        (["n1", "r1c01n7.site.org"], ""),
        (["n1", "x"], "; it says nothing of the node x: in jobs with it nodes are taken as equally near"),
    ],
)
def test_a_file_in_one_line(hosts: list[str], more: str, tmp_path: Path) -> None:
    path = tmp_path / "topology.conf"
    path.write_text(TREE, encoding="utf-8")
    said = f"none, but groups of nodes, from UNISONO_TOPOLOGY={path}: 3 switches with nodes, taper 1.5{more}"
    assert described({"UNISONO_TOPOLOGY": str(path)}, hosts, None) == said


def test_nobody_may_be_asked() -> None:
    assert described({"UNISONO_TOPOLOGY": "none"}, [], None) == "none, because UNISONO_TOPOLOGY=none switches them off"
