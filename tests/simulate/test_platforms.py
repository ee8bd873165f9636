from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from unisono.core.errors import UserError
from unisono.simulate import files
from unisono.simulate.files import names, platform, text
from unisono.simulate.platforms import Number, near_cube
from unisono.simulate.run import Result, Run, output_of, read

FX10 = platform("fx10")


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
    cluster = ElementTree.fromstring(platform("fat-tree").xml().split('dtd">')[1]).find("cluster")
    assert cluster is not None and cluster.get("topo_parameters") == "2;16,4;1,16;1,1"
    assert 'sharing_policy="SPLITDUPLEX"' in platform("oci-bm-optimized3-36").xml()


@pytest.mark.parametrize(
    ("name", "nodes", "parameters", "last"),
    [
        ("fat-tree", 60, "2;16,4;1,16;1,1", 63),
        ("fat-tree-tapered", 40, "2;16,3;1,4;1,1", 47),
        ("dragonfly-plus", 200, "3;16,8,2;1,16,4;1,1,1", 255),
        ("dragonfly", 1500, "12,1;4,1;8,1;4", 1535),
        ("torus", 96, "6,4,4", 95),
    ],
)
def test_machines_grow_with_their_nodes(name: str, nodes: int, parameters: str, last: int, tmp_path: Path) -> None:
    """Switches and groups are whole; ranks are on the first nodes."""
    platform(name).sized(nodes).write(tmp_path, 2)
    cluster = ElementTree.parse(tmp_path / "platform.xml").find("cluster")
    assert cluster is not None
    assert (cluster.get("topo_parameters"), cluster.get("radical")) == (parameters, f"0-{last}")
    assert (tmp_path / "hosts").read_text().split()[-2:] == [f"n{nodes - 1}"] * 2


def test_tori_are_near_cubes() -> None:
    assert [near_cube(n, 3) for n in (384, 64, 60, 7, 1)] == [(8, 8, 6), (4, 4, 4), (5, 4, 3), (7, 1, 1), (1, 1, 1)]
    assert near_cube(12, 2) == (4, 3) and near_cube(12, 1) == (12,)


def test_what_an_algorithm_expects_of_a_message() -> None:
    """On a torus of 6 x 4 x 4 the nodes 1, 2, 4 ... 64 further on are 1, 2, 2, 3, 4, 4 and 6 links away."""
    torus = platform("torus").resized((6, 4, 4))
    hops = [1, 2, 2, 3, 4, 4, 6]
    assert torus.far == pytest.approx(sum(hops) / len(hops) * torus.latency.value)
    assert torus.near == torus.latency.value == platform("torus").resized((1, 1, 1)).far
    tree = platform("fat-tree-tapered")
    assert tree.near == tree.far > tree.latency.value


def test_links_of_t2k_serve_short_messages_one_by_one() -> None:
    assert "--cfg=smpi/bw-factor:0:0.25;32768:1" in platform("t2k").options()
    assert "--cfg=smpi/os:0:5.2e-06:0" in platform("xt4").options()
    assert FX10.options() == ["--cfg=network/model:CM02"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("value = 5e9", "value = -5e9", "bandwidths and the rate of a copy are above 0"),
        ('kind = "torus"', 'kind = "ring"', "a platform is a torus, a fat tree, a dragonfly or a crossbar"),
        ("extents = [8, 8, 6]", "extents = [8, 800, 6000]", "65536 is the most"),
        ("cores = 16", "core = 16", "core: is not known"),
        ("cores = 16", 'cores = "many"', "cores: Input should be a valid integer"),
        ('source = "Tofu', 'note = "Tofu', "bandwidth: a number is { value = 1e9, source = 'where from' }"),
        ('source = "assumed" }', 'source = "" }', "node_latency: source is empty"),
        ("bandwidth = {", "band = {", "band: is not known"),
        ("name =", "name", "is not valid TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    there = Path(files.__file__).with_name("machines") / "fx10.toml"
    path.write_text(there.read_text().replace(old, new, 1))
    with pytest.raises(UserError) as error:
        platform(str(path))
    assert sentence in str(error.value) and str(path) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("name", names())
def test_a_platform_written_is_the_platform_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text(platform(name)))
    assert platform(str(path)) == platform(name)
    assert all(number.source for number in platform(name).numbers.values())
    assert platform(name).about and platform(name).source


def test_numbers_say_where_they_are_from() -> None:
    assert not FX10.bandwidth.assumed and FX10.copy.assumed
    assert Number(1.0, "assumed").assumed


def test_the_command_line(tmp_path: Path) -> None:
    run = Run(FX10, 2, "alltoall", ["smpi", "direct"], [8], smpi={"alltoall": "pair"}, selector="mpich")
    argv = run.argv(tmp_path)
    assert argv[:3] == ["smpirun", "-np", "768"]
    assert "--cfg=smpi/alltoall:pair" in argv and "--cfg=smpi/coll-selector:mpich" in argv
    assert argv[-8:] == ["time", "2000000000", "1e-07", "2.11111e-06:1e-06", "5e+09", "0", "alltoall", "smpi,direct"]
    alone = Run(FX10, 2, "alltoall", ["direct"], [8], shared=False).argv(tmp_path)
    assert alone[-6] == "0"


def test_a_simulation_that_is_interrupted_ends(tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    told = tmp_path / "pids"
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        with pytest.raises(KeyboardInterrupt):
            output_of(["sh", "-c", f"sleep 60 & echo $$ $! > {told}; wait"], os.environ, tmp_path, 50)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    end = time.monotonic() + 20
    pids = [int(pid) for pid in told.read_text().split()]
    while any(_runs(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [pid for pid in pids if _runs(pid)]


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_what_the_program_prints() -> None:
    text = "noise\n@ bcast links 8 1.5e-06\n@ bcast pull 8 no\n@ bcast ring 8 WRONG\n"
    assert read(text) == [
        Result("bcast", "links", 8, 1.5e-6),
        Result("bcast", "pull", 8, None),
        Result("bcast", "ring", 8, "WRONG"),
    ]
    with pytest.raises(UserError, match="not a line"):
        read("@ bcast links\n")
