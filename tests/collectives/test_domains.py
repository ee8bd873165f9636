"""Domains within domains of a node, where each rank has a CPU of its own: pretended, as most test machines have few."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi]
PROGRAMS = Path(__file__).parent / "programs"
TWO_LEVELS = {
    "UNISONO_FAKE_NUMA": "3,1/2,1",
    "UNISONO_FORCE": "bcast=unisono/domains,allreduce=unisono/domains",
    "UNISONO_COLLECTIVES": "on",
    "UNISONO_VERBOSE": "1",
}


def test_what_meeting_takes_is_measured_at_every_level(tmp_path: Path) -> None:
    tools = toolchain("openmpi5")
    stand_in = compiled(tools, tmp_path, str(PROGRAMS / "own_cpus.c"), "-shared", "-fPIC", after=["-ldl"])
    program = compiled(tools, tmp_path, str(PROGRAMS / "sizes.c"))
    env = TWO_LEVELS | {"LD_PRELOAD": f"{tools.library}:{stand_in}"}
    # Ranks that wait without giving their CPU away take a while on few of them.
    ran = run(tools, tmp_path, program, "32768", ranks=4, env=env, record=False)
    assert (ran.status, ran.out.count("right")) == (0, 4), ran.out + ran.error
    assert "ranks share CPUs" not in ran.error
    assert "domains with ranks on the first: 2 pretended, 3 pretended;" in ran.error
    found = re.search(r"from the outermost domains on, in((?: [\d.]+)+) us; each further rank adds ([\d.]+)", ran.error)
    assert found is not None, ran.error
    assert len(found[1].split()) == 3, "the node and two levels"
    for collective in ("bcast", "allreduce"):
        assert re.search(rf"unisono: +{collective} +\S+ +unisono/domains +\d+$", ran.error, re.MULTILINE)
