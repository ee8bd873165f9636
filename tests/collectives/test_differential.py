"""Random calls give what the MPI library underneath gives, whichever of our algorithms serves them.

UNISONO_CASES in the environment: how many (`make nightly`), instead of a few hundred for each MPI and shape."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.launch.launched import launched
from tests.profile.interception import Toolchain, toolchain
from unisono.measure.build import native_source

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

CASES = int(os.environ.get("UNISONO_CASES", "0"))
SEED = os.environ.get("UNISONO_SEED", "1")
RUNS = [
    ("openmpi5", 2, "", 2000),
    ("openmpi5", 3, "", 1500),
    ("openmpi5", 4, "2", 1000),
    ("openmpi5", 4, "2,1", 500),
    ("openmpi5", 4, "%2", 500),
    ("mpich", 2, "", 600),
    ("mpich", 4, "2", 60),
    ("openmpi4", 3, "", 600),
]
"""MPI, ranks, pretended nodes (UNISONO_FAKE_NODES), cases in an ordinary run. MPICH's ranks do not give a CPU away."""

DOMAINS = "2,1"
"""Pretended NUMA domains of every node (UNISONO_FAKE_NUMA): with three ranks or more on a node they are used."""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By MPI, as they are compiled."""
    return {"": tmp_path_factory.mktemp("differential")}


def _program(tools: Toolchain, programs: dict[str, Path]) -> Path:
    if tools.name not in programs:
        program = programs[""] / tools.name
        sources = sorted(map(str, (native_source() / "tests" / "differential").glob("*.c")))
        argv = [tools.mpicc, "-std=gnu11", "-O1", "-g", "-o", str(program), *sources, "-ldl"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        programs[tools.name] = program
    return programs[tools.name]


@pytest.mark.parametrize(("name", "ranks", "nodes", "cases"), RUNS, ids=[f"{r[0]}-{r[1]}-{r[2]}" for r in RUNS])
def test_same_memory_as_the_library_underneath(
    name: str, ranks: int, nodes: str, cases: int, programs: dict[str, Path], tmp_path: Path
) -> None:
    tools = toolchain(name)
    cases = -(-cases * CASES // sum(run[3] for run in RUNS)) if CASES else cases
    variables = {"LD_PRELOAD": str(tools.library), "UNISONO_FAKE_NUMA": DOMAINS}
    variables |= {"UNISONO_FAKE_NODES": nodes} if nodes else {}
    if nodes == "2":  # two nodes, which are a ring: so those for tori are tried too
        (tmp_path / "torus").write_text("grid 2 torus\n")
        variables["UNISONO_TOPOLOGY"] = str(tmp_path / "torus")
    argv = [*tools.launch(ranks, variables), str(_program(tools, programs)), SEED, "0", str(cases)]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = launched(argv, cwd=tmp_path, env={**os.environ, **root}, timeout=90 + cases / 10)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert re.search(rf"^{cases} cases on {ranks} ranks, 0 wrong$", done.stdout, re.MULTILINE), done.stdout
