"""Bruck's alltoall to every base, over pretended nodes, in all shapes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

PROGRAM = Path(__file__).parent / "programs" / "blocks_of_all_sizes.c"
SHAPES = [("1", 11, 1, "leader"), ("1", 11, 8, "leader"), ("1", 11, 100, "leader"), ("2,1", 11, 8, "flat_bruck")]
SHAPES += [("2", 10, 8, "leader"), ("2", 10, 100, "flat_bruck"), ("%5", 9, 30, "flat_bruck")]
"""Pretended nodes, ranks, and for how many messages a short one is under way: from base 2 to all others at once."""


@pytest.mark.parametrize(("nodes", "ranks", "latency", "name"), SHAPES, ids=["-".join(map(str, s)) for s in SHAPES])
def test_blocks_come_home(nodes: str, ranks: int, latency: int, name: str, tmp_path: Path) -> None:
    tools = toolchain("openmpi5")
    program, rules = compiled(tools, tmp_path, str(PROGRAM)), tmp_path / "rules"
    costs = f"node_latency 1e-7 node_byte 1e-10 fabric_latency 2e-6 fabric_byte 1e-10 fabric_message {2e-6 / latency:g}"
    rules.write_text(f"unisono-rules 1\ncost {costs}\nalltoall * * 0 max unisono/{name}\n")
    env = {"UNISONO_RULES": str(rules), "UNISONO_FAKE_NODES": nodes, "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
    ran = run(tools, tmp_path, program, ranks=ranks, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    assert re.search(rf"unisono: +alltoall +\S+ +unisono/{name} +\d+$", ran.error, re.MULTILINE), ran.error
