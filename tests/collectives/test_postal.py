"""Trees and graphs over more pretended nodes than other tests have, in all shapes: bcast and reduce with every root."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

PROGRAM = Path(__file__).parent / "programs" / "every_root.c"
RANKS = 11
POSTAL = {"bcast": "leader_postal", "reduce": "leader_postal"}
SHAPES = [
    ("1", 1, POSTAL),
    ("1", 2, POSTAL),
    ("1", 4, POSTAL),
    ("1", 20, POSTAL),
    ("2,1", 3, POSTAL),
    ("%5", 3, POSTAL),
    ("1", 20, {"bcast": "circulant", "reduce": "circulant"}),
    ("2,1", 20, {"bcast": "circulant", "reduce": "circulant"}),
]
"""Pretended nodes, for how many messages a short one is under way (from pairs to everybody to the root, or how many
blocks there are), and what serves each collective."""


@pytest.mark.parametrize(("nodes", "latency", "serving"), SHAPES)
def test_every_root_gets_and_gives_what_the_library_underneath_does(
    nodes: str, latency: int, serving: dict[str, str], tmp_path: Path
) -> None:
    tools = toolchain("openmpi5")
    program, rules = compiled(tools, tmp_path, str(PROGRAM)), tmp_path / "rules"
    costs = f"node_latency 1e-7 node_byte 1e-10 fabric_latency 2e-6 fabric_byte 1e-10 fabric_message {2e-6 / latency:g}"
    named = (f"{collective} * * 0 max unisono/{algorithm}" for collective, algorithm in serving.items())
    rules.write_text("\n".join(("unisono-rules 1", f"cost {costs}", *named, "")))
    env = {"UNISONO_RULES": str(rules), "UNISONO_FAKE_NODES": nodes, "UNISONO_VERBOSE": "1", "UNISONO_PATIENCE": "0"}
    ran = run(tools, tmp_path, program, ranks=RANKS, env=env, record=False)
    assert (ran.status, ran.out.split()) == (0, ["right"]), ran.out + ran.error
    for collective, algorithm in serving.items():
        served = re.search(rf"unisono: +{collective} +\S+ +unisono/{algorithm} +(\d+)$", ran.error, re.MULTILINE)
        assert served is not None and int(served[1]) > RANKS, ran.error
