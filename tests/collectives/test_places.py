"""Nodes behind switches: what is counted between their groups is what is sent, and results are right in any order."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.collectives.test_nodes import TRY
from tests.launch.conftest import Installed, installed
from tests.profile.interception import compiled, toolchain
from tests.profile.interception import run as run_of
from unisono.launch.process import run
from unisono.library.native import Target, built

__all__ = ["installed"]

SENT = Target(
    "crossing_sent",
    "collectives/crossing_sent",
    ("collectives", "common", "tests/crossing_sent.c"),
    "what crosses between groups of nodes",
)
SIZES = Path(__file__).parent / "programs" / "sizes.c"
GROUPS = """SwitchName=a Nodes=%[0,3,6]
SwitchName=b Nodes=%[1,4]
SwitchName=c Nodes=%[2,5,7-9]
SwitchName=x Switches=a,b
SwitchName=y Switches=c
"""
"""Six nodes by turns in three groups, of which two are behind one switch more."""
SOME = {
    "bcast_chain",
    "bcast_leader",
    "allreduce_ring",
    "allreduce_chain",
    "allreduce_leader",
    "allgather_ring",
    "allgather_far",
    "reduce_chain",
    "reduce_scatter_near",
    "reduce_scatter_block_ring",
    "allgather_leader_bine",
    "allreduce_leader_bine",
    "reduce_scatter_block_lanes_bine",
    "bcast_near_trees",
    "bcast_two_trees",
    "reduce_near_trees",
    "reduce_two_trees",
}
OF_EQUAL_NODES = {"allgather_far", "reduce_scatter_block_lanes_bine"}
"""Lanes of equal length are not to be had where nodes differ."""


@pytest.fixture
def launch(installed: Installed, tmp_path: Path) -> dict[str, str]:
    if not installed.version.startswith("5"):
        pytest.skip("one MPI is enough")
    (tmp_path / "groups").write_text(GROUPS, encoding="utf-8")
    groups = {"UNISONO_TOPOLOGY": str(tmp_path / "groups"), "UNISONO_FAKE_NODES": "1"}
    return {"TRY_SECONDS": "0", "OMPI_MCA_mpi_yield_when_idle": "1", **groups}


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("ranks", [4, 6])
def test_what_is_counted_is_what_is_sent(installed: Installed, launch: dict[str, str], ranks: int) -> None:
    program = built(SENT, str(Path(installed.mpirun).with_name("mpicc")))
    done = run(installed.argv("--oversubscribe", "-n", str(ranks), str(program)), launch, deadline=100)
    assert done.exit_code == 0, done.stdout + done.stderr
    right = dict(re.findall(r"^(\w+) .*sent +(\d+) .*right$", done.stdout, re.MULTILINE))
    assert set(right) >= SOME and all(int(sent) > 0 for sent in right.values()), done.stdout


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize(("ranks", "nodes"), [(6, "1"), (6, "2,1")])
def test_results_are_right(installed: Installed, launch: dict[str, str], ranks: int, nodes: str) -> None:
    program = built(TRY, str(Path(installed.mpirun).with_name("mpicc")))
    argv = installed.argv("--oversubscribe", "-n", str(ranks), str(program), "all", "all", "0", "40", "3001", "70001")
    done = run(argv, {**launch, "UNISONO_FAKE_NODES": nodes}, deadline=100)
    assert done.exit_code == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.endswith((" right", " WRONG"))]
    assert not [line for line in lines if line.endswith("WRONG")], done.stdout
    assert {line.split()[0] for line in lines} >= SOME - (OF_EQUAL_NODES if "," in nodes else set())


@pytest.mark.mpi
@pytest.mark.beside
def test_a_wrong_file_ends_the_program_and_an_incomplete_one_does_not(
    installed: Installed, launch: dict[str, str], tmp_path: Path
) -> None:
    program = built(TRY, str(Path(installed.mpirun).with_name("mpicc")))
    argv = installed.argv("--oversubscribe", "-n", "3", str(program), "bcast", "chain", "40")
    path = tmp_path / "groups"
    path.write_text("SwitchName=a Nodes=%[0\n", encoding="utf-8")
    done = run(argv, launch, deadline=60)
    assert done.exit_code == 2
    assert f"unisono: UNISONO_TOPOLOGY={path}: line 1: expected names apart by commas" in done.stdout + done.stderr
    path.write_text("SwitchName=a Nodes=%0\nSwitchName=b Nodes=%2\n", encoding="utf-8")
    done = run(argv, launch, deadline=60)
    assert done.exit_code == 0
    said = "unisono: UNISONO_TOPOLOGY: says nothing of the node of rank 1; nodes are taken as equally near"
    assert said in done.stdout + done.stderr
    done = run(argv, {**launch, "UNISONO_TOPOLOGY": "none"}, deadline=60)
    assert done.exit_code == 0 and "unisono:" not in done.stdout + done.stderr


@pytest.mark.mpi
@pytest.mark.beside
def test_a_jobs_own_variables(installed: Installed, launch: dict[str, str]) -> None:
    """Slurm's, of this host; another host's, which a launcher has handed on, say nothing."""
    program = built(SENT, str(Path(installed.mpirun).with_name("mpicc")))
    host = os.uname().nodename
    told = {**launch, "UNISONO_TOPOLOGY": "", "SLURM_TOPOLOGY_ADDR_PATTERN": "switch.node"}
    argv = [
        *installed.argv("--oversubscribe", "-n", "1", "env", f"SLURM_TOPOLOGY_ADDR=a.{host}", str(program)),
        *(":", "-n", "1", "env", f"SLURM_TOPOLOGY_ADDR=b.{host}", str(program)),
    ]
    done = run(argv, told, deadline=60)
    assert done.exit_code == 0 and "allreduce_ring" in done.stdout, done.stdout + done.stderr
    other = [word.replace(f"b.{host}", "b.another") for word in argv]
    done = run(other, told, deadline=60)
    assert done.exit_code == 2 and "crossing_sent" in done.stderr, done.stdout + done.stderr


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("grouped", [True, False])
def test_of_what_is_as_fast_the_nearest_serves(grouped: bool, tmp_path: Path) -> None:
    """A chain goes from one group to another once, whichever nodes a group has; a binary tree more often."""
    tools = toolchain("openmpi5")
    program, rules, groups = compiled(tools, tmp_path, str(SIZES)), tmp_path / "rules", tmp_path / "groups"
    named = ("bcast * * 0 max unisono/binary|unisono/chain,mpi", "allreduce 6 1 0 max unisono/ring|unisono/chain")
    rules.write_text("\n".join(("unisono-rules 1", *named, "")), encoding="utf-8")
    groups.write_text(GROUPS, encoding="utf-8")
    env = {"UNISONO_RULES": str(rules), "UNISONO_FAKE_NODES": "1", "UNISONO_VERBOSE": "1"}
    ran = run_of(
        tools,
        tmp_path,
        program,
        "9000",
        ranks=6,
        env={**env, "UNISONO_TOPOLOGY": str(groups) if grouped else "none"},
        record=False,
    )
    assert (ran.status, set(ran.out.split())) == (0, {"right"}), ran.out + ran.error
    served = set(re.findall(r"unisono: +(bcast|allreduce) +\S+ +(\S+) +\d+$", ran.error, re.MULTILINE))
    names = ("chain", "chain") if grouped else ("binary", "ring")
    assert served == {("bcast", f"unisono/{names[0]}"), ("allreduce", f"unisono/{names[1]}")}, ran.error
