"""Postal trees over more pretended nodes than other tests have, in all shapes: bcast and reduce with every root."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

PROGRAM = Path(__file__).parent / "programs" / "every_root.c"
RANKS = 11
SHAPES = [("1", 1), ("1", 2), ("1", 4), ("1", 20), ("2,1", 3), ("%5", 3)]
"""Pretended nodes, and for how many messages a short one is under way: from pairs to everybody to the root."""


@pytest.mark.parametrize(("nodes", "latency"), SHAPES, ids=[f"{nodes}-{latency}" for nodes, latency in SHAPES])
def test_every_root_gets_and_gives_what_the_library_underneath_does(nodes: str, latency: int, tmp_path: Path) -> None:
    tools = toolchain("openmpi5")
    program, rules = compiled(tools, tmp_path, str(PROGRAM)), tmp_path / "rules"
    costs = f"node_latency 1e-7 node_byte 1e-10 fabric_latency 2e-6 fabric_byte 1e-10 fabric_message {2e-6 / latency:g}"
    named = (f"{collective} * * 0 max unisono/leader_postal" for collective in ("bcast", "reduce"))
    rules.write_text("\n".join(("unisono-rules 1", f"cost {costs}", *named, "")))
    env = {"UNISONO_RULES": str(rules), "UNISONO_FAKE_NODES": nodes, "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
    ran = run(tools, tmp_path, program, ranks=RANKS, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    served = dict(re.findall(r"unisono: +(\w+) +\S+ +unisono/leader_postal +(\d+)$", ran.error, re.MULTILINE))
    assert all(int(served.get(name, "0")) > RANKS for name in ("bcast", "reduce")), ran.error
