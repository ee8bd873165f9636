from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from unisono.errors import UserError
from unisono.simulate.platforms import CROSSBAR, FAT_TREE, FX10, Number
from unisono.simulate.run import Result, Run, read


def test_files_of_a_torus(tmp_path: Path) -> None:
    FX10.write(tmp_path, 16)
    cluster = ElementTree.parse(tmp_path / "platform.xml").find("cluster")
    assert cluster is not None
    assert cluster.get("topo_parameters") == "8,8,6" and cluster.get("radical") == "0-383"
    assert cluster.get("bw") == "5000000000Bps"
    hosts = (tmp_path / "hosts").read_text().split()
    assert len(hosts) == 6144 and hosts[15:17] == ["n0", "n1"]
    assert (tmp_path / "coordinates").read_text() == "extents 8x8x6 torus\nnames n%n\n"


def test_a_fat_tree_has_full_bisection() -> None:
    cluster = ElementTree.fromstring(FAT_TREE.xml().split('dtd">')[1]).find("cluster")
    assert cluster is not None and cluster.get("topo_parameters") == "2;16,4;1,16;1,1"
    assert 'sharing_policy="SPLITDUPLEX"' in CROSSBAR.xml()
    with pytest.raises(UserError, match="do not fill switches of 16"):
        FAT_TREE.resized((60,))


def test_numbers_say_where_they_are_from() -> None:
    for platform in (FX10, FAT_TREE, CROSSBAR):
        assert all(number.source for number in platform.numbers.values())
    assert not FX10.bandwidth.assumed and FX10.copy.assumed
    assert Number(1.0, "assumed").assumed


def test_the_command_line(tmp_path: Path) -> None:
    run = Run(FX10, 2, "alltoall", ["smpi", "direct"], [8], smpi={"alltoall": "pair"}, selector="mpich")
    argv = run.argv(tmp_path)
    assert argv[:3] == ["smpirun", "-np", "768"]
    assert "--cfg=smpi/alltoall:pair" in argv and "--cfg=smpi/coll-selector:mpich" in argv
    assert argv[-7:] == ["time", "2000000000", "1e-07", "1e-06", "5e+09", "alltoall", "smpi,direct"]
    alone = Run(FX10, 2, "alltoall", ["direct"], [8], shared=False).argv(tmp_path)
    assert alone[-5] == "0"


def test_what_the_program_prints() -> None:
    text = "noise\n@ bcast links 8 1.5e-06\n@ bcast pull 8 no\n@ bcast ring 8 WRONG\n"
    assert read(text) == [
        Result("bcast", "links", 8, 1.5e-6),
        Result("bcast", "pull", 8, None),
        Result("bcast", "ring", 8, "WRONG"),
    ]
    with pytest.raises(UserError, match="not a line"):
        read("@ bcast links\n")
